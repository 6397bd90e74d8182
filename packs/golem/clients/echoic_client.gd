## A character of Echoic in Godot 4: add it to the scene, set url and token, connect signals.
##
## docs/engines.md has the protocol.
class_name EchoicClient
extends Node

## Begin what `action` names (type, target, params); report on decision_id later.
signal action_asked(action: Dictionary, decision_id: String)
## Show or say it.
signal speech_asked(text: String)
## Nobody took this id in time: do not begin it.
signal expired(id: String)
## An event of ours was wrong: reason, detail and fields say how.
signal refused(what: Dictionary)

const ANOTHER_ENGINE_IS_HERE := 4001
const MOST_UNKEPT := 1000
const MOST_KNOWN := 1000
const LONGEST_PAUSE_S := 30.0

@export var url := "ws://127.0.0.1:7350/v1/golem"
@export var token := ""

var _socket := WebSocketPeer.new()
var _was_open := false
var _has_ended := false
var _pause_s := 1.0
var _wait_s := 0.0
var _next_id := 0
# Dictionaries keep the order in which keys came.
var _unkept := {}
var _known := {}
var _run := str(Time.get_unix_time_from_system()) + "-" + str(randi())


## Tell how an action ended: "succeeded", "failed", "overridden" or "cancelled".
func report(decision_id: String, outcome: String, text: String, reason := "") -> void:
	_keep({
		"message": "event", "id": _new_id(), "type": "completed", "text": text,
		"in_reply_to": decision_id, "outcome": outcome, "reason": reason,
	})


## Tell the body's needs, position and whatever else the pack's `mind` names.
func body(fields: Dictionary, text := "body") -> void:
	_keep({
		"message": "event", "id": _new_id(), "type": "body", "text": text,
		"fields": fields,
	})


## Tell anything else that happened near the character.
func tell(type: String, text: String, fields := {}) -> void:
	_keep({
		"message": "event", "id": _new_id(), "type": type, "text": text,
		"fields": fields,
	})


func _ready() -> void:
	_open()


func _process(delta: float) -> void:
	_socket.poll()
	match _socket.get_ready_state():
		WebSocketPeer.STATE_OPEN:
			if not _was_open:
				_was_open = true
				_pause_s = 1.0
				# What was not kept is sent again under the same id, and counts once.
				for each in _unkept.values():
					_send(each)
			while _socket.get_available_packet_count() > 0:
				_hear(JSON.parse_string(_socket.get_packet().get_string_from_utf8()))
		WebSocketPeer.STATE_CLOSED:
			_again(delta)


func _again(delta: float) -> void:
	if _was_open:
		_was_open = false
		_has_ended = _socket.get_close_code() == ANOTHER_ENGINE_IS_HERE
		_wait_s = _pause_s
	_wait_s -= delta
	if not _has_ended and _wait_s <= 0.0:
		_pause_s = minf(2.0 * _pause_s, LONGEST_PAUSE_S)
		_wait_s = _pause_s
		_open()


func _open() -> void:
	_socket = WebSocketPeer.new()
	_socket.handshake_headers = PackedStringArray(["Authorization: Bearer " + token])
	_socket.connect_to_url(url)


func _hear(heard: Dictionary) -> void:
	match heard["message"]:
		"action":
			if _is_new(heard["id"]):
				action_asked.emit(heard["action"], heard["decision_id"])
			_send({"message": "taken", "id": heard["id"]})
		"speech":
			if _is_new(heard["id"]):
				speech_asked.emit(heard["text"])
			_send({"message": "taken", "id": heard["id"]})
		"expired":
			expired.emit(heard["id"])
		"kept":
			_unkept.erase(heard["id"])
		"refused":
			_unkept.erase(heard.get("id", ""))
			refused.emit(heard)


func _is_new(id: String) -> bool:
	if _known.has(id):
		return false
	_known[id] = true
	if _known.size() > MOST_KNOWN:
		_known.erase(_known.keys()[0])
	return true


func _keep(message: Dictionary) -> void:
	if _unkept.size() >= MOST_UNKEPT:
		push_warning("Echoic: an event is lost")
		_unkept.erase(_unkept.keys()[0])
	_unkept[message["id"]] = message
	_send(message)


func _send(message: Dictionary) -> void:
	if _socket.get_ready_state() == WebSocketPeer.STATE_OPEN:
		_socket.send_text(JSON.stringify(message))


func _new_id() -> String:
	_next_id += 1
	return _run + "-" + str(_next_id)
