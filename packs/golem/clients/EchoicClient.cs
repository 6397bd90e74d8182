// A character of Echoic in Unity: put it on an object, set Url and Token, and subscribe.
// Needs Unity 2021.3 or newer and its package com.unity.nuget.newtonsoft-json.
// docs/engines.md has the protocol. All callbacks run on Unity's main thread.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using UnityEngine;

public sealed class EchoicClient : MonoBehaviour
{
    const int AnotherEngineIsHere = 4001;
    const int MostUnkept = 1000, MostKnown = 1000;

    public string Url = "ws://127.0.0.1:7350/v1/golem";
    public string Token = "";

    // Begin what `action` names ("type", "target", "params"); report on "decision_id" later.
    public event Action<JObject> ActionAsked;
    // Show or say "text".
    public event Action<JObject> SpeechAsked;
    // Nobody took this id in time: do not begin it.
    public event Action<string> Expired;
    // An event of ours was wrong: "reason", "detail" and "fields" say how.
    public event Action<JObject> Refused;

    readonly List<JObject> _unkept = new List<JObject>();
    readonly Queue<string> _order = new Queue<string>();
    readonly HashSet<string> _known = new HashSet<string>();
    readonly CancellationTokenSource _end = new CancellationTokenSource();
    ClientWebSocket _socket;
    Task _sending = Task.CompletedTask;

    // Tell how an action ended: "succeeded", "failed", "overridden" or "cancelled".
    public void Report(string decisionId, string outcome, string text, string reason = null)
    {
        Keep(new JObject {
            ["message"] = "event", ["id"] = NewId(), ["type"] = "completed", ["text"] = text,
            ["in_reply_to"] = decisionId, ["outcome"] = outcome, ["reason"] = reason });
    }

    // Tell the body's needs, position and whatever else the pack's `mind` names.
    public void Body(JObject fields, string text = "body")
    {
        Keep(new JObject {
            ["message"] = "event", ["id"] = NewId(), ["type"] = "body", ["text"] = text,
            ["fields"] = fields });
    }

    // Tell anything else that happened near the character.
    public void Tell(string type, string text, JObject fields = null)
    {
        Keep(new JObject {
            ["message"] = "event", ["id"] = NewId(), ["type"] = type, ["text"] = text,
            ["fields"] = fields ?? new JObject() });
    }

    async void Start()
    {
        for (var pause = 1; !_end.IsCancellationRequested; pause = Math.Min(2 * pause, 30))
        {
            using (_socket = new ClientWebSocket())
            {
                _socket.Options.SetRequestHeader("Authorization", "Bearer " + Token);
                try
                {
                    await _socket.ConnectAsync(new Uri(Url), _end.Token);
                    pause = 1;
                    // What was not kept is sent again under the same id, and counts once.
                    foreach (var each in _unkept.ToArray()) Send(each);
                    await Listen();
                    if ((int?)_socket.CloseStatus == AnotherEngineIsHere) return;
                }
                catch (OperationCanceledException) { return; }
                catch (Exception error) { Debug.LogWarning("Echoic: " + error.Message); }
            }
            await Task.Delay(1000 * pause);
        }
    }

    void OnDestroy() { _end.Cancel(); }

    async Task Listen()
    {
        var buffer = new ArraySegment<byte>(new byte[16384]);
        while (_socket.State == WebSocketState.Open)
        {
            var whole = new MemoryStream();
            WebSocketReceiveResult part;
            do
            {
                part = await _socket.ReceiveAsync(buffer, _end.Token);
                whole.Write(buffer.Array, 0, part.Count);
            } while (!part.EndOfMessage);
            if (part.MessageType != WebSocketMessageType.Close) Hear(JObject.Parse(Encoding.UTF8.GetString(whole.ToArray())));
        }
    }

    void Hear(JObject heard)
    {
        var id = (string)heard["id"];
        switch ((string)heard["message"])
        {
            case "action": if (IsNew(id)) ActionAsked?.Invoke(heard); Take(id); break;
            case "speech": if (IsNew(id)) SpeechAsked?.Invoke(heard); Take(id); break;
            case "expired": Expired?.Invoke(id); break;
            case "kept": _unkept.RemoveAll(each => (string)each["id"] == id); break;
            case "refused": _unkept.RemoveAll(each => (string)each["id"] == id); Refused?.Invoke(heard); break;
        }
    }

    void Take(string id) { Send(new JObject { ["message"] = "taken", ["id"] = id }); }

    bool IsNew(string id)
    {
        if (!_known.Add(id)) return false;
        _order.Enqueue(id);
        if (_order.Count > MostKnown) _known.Remove(_order.Dequeue());
        return true;
    }

    void Keep(JObject message)
    {
        if (_unkept.Count >= MostUnkept) { Debug.LogWarning("Echoic: an event is lost"); _unkept.RemoveAt(0); }
        _unkept.Add(message);
        Send(message);
    }

    void Send(JObject message)
    {
        if (_socket?.State == WebSocketState.Open) _sending = SendAfter(_sending, _socket, message.ToString(Formatting.None));
    }

    // One at a time: a socket takes no second message while it sends one.
    async Task SendAfter(Task before, ClientWebSocket socket, string text)
    {
        await before;
        try { await socket.SendAsync(new ArraySegment<byte>(Encoding.UTF8.GetBytes(text)), WebSocketMessageType.Text, true, _end.Token); }
        catch (Exception error) { Debug.LogWarning("Echoic: " + error.Message); }
    }

    static string NewId() { return Guid.NewGuid().ToString(); }
}
