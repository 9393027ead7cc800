package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Added is turn number i with only what it adds, and the answer that it goes on from, for a server
// that keeps the history: said has the answers by turn. The answer is nil, and the turn is whole, if
// the turn has no history. A prompt with the answers of several turns is an error.
func (c *Conversation) Added(i int, said []json.RawMessage) (turn Turn, answer json.RawMessage, err error) {
	if turn = c.Turns[i]; turn.Blocks != nil || turn.Tail.Tokens > 0 || !c.continues(i, Everything) {
		turn, err = c.Prompted(i, said)
		return turn, nil, err
	}
	for _, wait := range c.WaitsOf(i) {
		switch wait.History {
		case Everything:
			answer = said[wait.Turn]
		case AnswerOnly:
			return turn, nil, fmt.Errorf("turn %d has answers of several turns, and a server keeps the history of one", i)
		}
	}
	if turn.Messages != nil {
		parts := []json.RawMessage{answer, turn.Messages}
		err = paired(parts)
		turn.Messages = parts[1]
	}
	return turn, answer, err
}

// paired makes live answers and the recorded messages after them one valid chat, in which a tool
// message answers every call and each tool message answers a call: servers refuse others. parts are
// lists of messages and answers in turn. The results of tools, in order, become the results of the live
// calls. Calls without a result are dropped, and a result without a call becomes a user's message. It
// changes parts, but not what they hold.
func paired(parts []json.RawMessage) error {
	var answers []int // since the last list
	for i, part := range parts {
		if !bytes.HasPrefix(bytes.TrimSpace(part), []byte("[")) {
			answers = append(answers, i)
			continue
		}
		var calls []json.RawMessage // the ids of all live calls
		for _, at := range answers {
			ids, err := callsOf(parts[at])
			if err != nil {
				return err
			}
			calls = append(calls, ids...)
		}
		results, err := answering(&parts[i], calls)
		if err != nil {
			return err
		}
		for _, at := range answers {
			if results, err = keepCalls(&parts[at], results); err != nil {
				return err
			}
		}
		answers = answers[:0]
	}
	return nil
}

// callsOf are the ids of the calls of a message.
func callsOf(message []byte) (ids []json.RawMessage, err error) {
	if !bytes.Contains(message, []byte(`"tool_calls"`)) {
		return nil, nil
	}
	calls, err := member(message, "tool_calls")
	if err != nil {
		return nil, err
	}
	all, err := elements(calls)
	for _, call := range all {
		id, err := member(call, "id")
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, err
}

// answering gives the results of tools in a list of messages the ids of calls, and is their number.
func answering(list *json.RawMessage, calls []json.RawMessage) (results int, err error) {
	if !bytes.Contains(*list, []byte(`"tool_call_id"`)) {
		return 0, nil
	}
	messages, err := elements(*list)
	if err != nil {
		return 0, err
	}
	places := map[string]int{} // of the calls whose results these are, by recorded id
	own := map[string]bool{}   // ids of calls in the list itself
	for i, message := range messages {
		ids, err := callsOf(message)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			own[string(id)] = true
		}
		answered, err := member(message, "tool_call_id")
		if err != nil {
			return 0, err
		}
		if answered == nil || own[string(answered)] {
			continue
		}
		place, known := places[string(answered)]
		if !known {
			place = len(places)
			places[string(answered)] = place
		}
		if messages[i], err = edited(message, func(key, value []byte) []byte {
			switch key := string(key); {
			case key == "tool_call_id" && place < len(calls):
				return calls[place]
			case key == "tool_call_id":
				return nil
			case key == "role" && place >= len(calls):
				return []byte(`"user"`)
			}
			return value
		}); err != nil {
			return 0, err
		}
	}
	*list = joinLists(messages)
	return min(len(places), len(calls)), nil
}

// keepCalls keeps the first calls of an answer, as many as there are results, and is the number of
// results that are left.
func keepCalls(answer *json.RawMessage, results int) (left int, err error) {
	ids, err := callsOf(*answer)
	if err != nil || len(ids) <= results {
		return results - len(ids), err
	}
	*answer, err = edited(*answer, func(key, value []byte) []byte {
		switch key := string(key); {
		case key == "tool_calls" && results == 0:
			return nil
		case key == "tool_calls":
			calls, _ := elements(value) // as callsOf has found them
			return joinLists(calls[:results])
		case key == "content" && results == 0 && string(value) == "null":
			return []byte(`""`)
		}
		return value
	})
	return 0, err
}
