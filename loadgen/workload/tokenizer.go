package workload

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/openai"
)

// FromServer is the value of Server.Tokenizer that asks the server.
const FromServer = "server"

// An Origin says where a workload's tokenizer may come from.
type Origin struct {
	Model  string                           // its name is the default name of the tokenizer
	Served string                           // the model's name at the server
	Server *openai.Server                   // nil if there is no server
	Say    func(format string, args ...any) // takes remarks
}

// openTokenizer opens the tokenizer that the plan names. If the plan names none, it tries the
// model's in the local cache, then the server's, and then sends token ids if the prompts allow it.
// It reports which one it took, where that is, and why it took no better one.
func (w *Opened) openTokenizer(ctx context.Context, p *Spec, from Origin) (err error) {
	w.IDs = p.Workload.TokenIDs
	name, made := p.Server.Tokenizer, p.Workload.Has(kinds.MakesIDs)
	switch {
	case p.Server.SkipTokenizer, name == "" && p.Workload.Source != nil, name == "" && w.IDs && made,
		name == "" && p.Workload.Has(kinds.Printed):
		return nil
	case name == FromServer:
		return w.askServer(ctx, p, from, nil)
	case name != "":
		w.TokenizerName = name
		w.Tokenizer, err = tokenizer.Open(name)
		if _, own := os.Stat(name); err == nil && own != nil && placed(name) != name {
			from.Say("tokenizer: %s", placed(name))
		}
		return err
	}
	tried := errors.New("a tokenizer is needed: " + doWithout(p))
	var unread error
	if from.Model != "" {
		if w.Tokenizer, unread = tokenizer.Open(from.Model); unread == nil {
			w.TokenizerName = from.Model
			from.Say("tokenizer: %s", placed(from.Model))
			return nil
		}
		tried = errors.Join(tried, unread)
	}
	if from.Server != nil {
		err := w.askServer(ctx, p, from, unread)
		if err == nil || ctx.Err() != nil {
			return err
		}
		tried = errors.Join(tried, err)
		if made && !p.Server.Messages() {
			w.IDs = true
			from.Say("tokenizer: none (%s%v), prompts are sent as token ids below %d (%s)",
				from.absence(unread, "", "; "), err, p.Workload.VocabSize, p.Spelling.Spell(naming.VocabSize))
			p.noteVocabulary(from.Say)
			return nil
		}
	}
	if made && p.Workload.Has(kinds.SeveralTurns) && !p.Server.Messages() {
		w.IDs = true
		from.Say("tokenizer: none%s, prompts are token ids below %d (%s)", from.absence(unread, " (", ")"),
			p.Workload.VocabSize, p.Spelling.Spell(naming.VocabSize))
		return nil
	}
	return tried
}

// placed is the name of a tokenizer, and its folder if the name does not have it.
func placed(name string) string {
	folder, err := tokenizer.Folder(name)
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil || filepath.IsAbs(name) {
		return name
	}
	return name + ", in " + folder
}

// absence says why the model's tokenizer is not taken, by the error of opening it. Of one that is
// there, a note has the error. Of one that is not, the result has it, with text around it.
func (from *Origin) absence(unread error, before, after string) string {
	if unread == nil {
		return ""
	}
	if _, err := tokenizer.Folder(from.Model); !errors.Is(err, fs.ErrNotExist) {
		from.Say("NOTE: the model's own tokenizer cannot be read: %v", unread)
		return ""
	}
	if filepath.IsAbs(from.Model) {
		return before + "there is no " + from.Model + " on this machine" + after
	}
	return before + from.Model + " is not in the Hugging Face cache" + after
}

// doWithout says how to run a workload if no tokenizer was found.
func doWithout(p *Spec) string {
	give := "give " + p.Spelling.Spell(naming.Tokenizer)
	switch {
	case p.Workload.Has(kinds.MakesIDs) && !p.Server.Messages() && !p.Workload.Settings.MultiTurn.On &&
		p.Workload.Settings.BatchSize < 2:
		return give + ", or " + p.Spelling.Spell(naming.TokenIDs)
	case p.Workload.Has(kinds.Uncounted):
		return give + ", or " + p.Spelling.Spell(naming.SkipTokenizer)
	}
	return give
}

// askServer takes the server's tokenizer. The error is why the model's is not taken.
func (w *Opened) askServer(ctx context.Context, p *Spec, from Origin, unread error) error {
	if from.Server == nil {
		return errors.New(p.Spelling.Argument(naming.Tokenizer) + ": there is no server to ask")
	}
	t, err := from.Server.Tokenizer(ctx, from.Served, p.Workload.VocabSize)
	if err != nil {
		return err
	}
	from.Say("tokenizer: the server's, with ids below %d (%s)%s", p.Workload.VocabSize, p.Spelling.Spell(naming.VocabSize),
		from.absence(unread, "; ", ""))
	if p.Workload.Has(kinds.MakesIDs) {
		p.noteVocabulary(from.Say)
	}
	w.Tokenizer, w.TokenizerName, w.Remote = t, FromServer, t
	return nil
}

// noteVocabulary says that prompts are drawn from another range than the model's vocabulary, unless
// the plan gives the range.
func (p *Spec) noteVocabulary(say func(format string, args ...any)) {
	if !p.Workload.VocabGiven {
		say("NOTE: these are not the prompts of vllm bench serve: without the model's tokenizer, token ids are drawn "+
			"below %d; give %s or %s", p.Workload.VocabSize, p.Spelling.Spell(naming.Tokenizer),
			p.Spelling.Spell(naming.VocabSize))
	}
}

// checked ends a source at the first conversation that the server's tokenizer could not tokenize.
func checked(src dataset.Source, t *openai.ServerTokenizer) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for c, err := range src {
			if failed := t.Err(); failed != nil {
				c, err = nil, failed
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}
