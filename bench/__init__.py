"""What Echoic costs: throughput, latency and memory of the real thing on this machine."""
