"""`python -m echoic` is the program `echoic`."""

from echoic.cli import main

if __name__ == "__main__":
    main()
