package sessions

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/draw"
	"github.com/servebench/servebench/dataset/replay"
)

func dist(text string) draw.Dist {
	d, err := draw.ParseDist(text)
	if err != nil {
		panic(err)
	}
	return d
}

// agents are sessions in which every turn starts two sub-agents of two turns.
func agents() Synthetic {
	return Synthetic{
		Options: dataset.Options{Num: 20, VocabSize: 1000}, Turns: dist("uniform:min=3,max=5"), Shape: Shape{First: dist("lognormal:mean=100,sigma=0.5"), Input: dist("poisson:mean=20"), Output: dist("normal:mean=30,sigma=5"), Gap: dist("exponential:mean=10")}, System: SystemPrompts{Kinds: 4, Tokens: dist("uniform:min=50,max=60"), Bias: 1}, Agents: SubAgents{Share: 1, Number: dist("2"), Turns: dist("2"), Gap: dist("0.5")},
	}
}

func TestPromptsOfASessionExtendOneAnother(t *testing.T) {
	systems := map[dataset.Block]int{}
	for _, c := range all(t, agents()) {
		last := map[string]int{}
		for k := range c.Turns {
			turn := &c.Turns[k]
			tokens := 0
			for b := range turn.AllBlocks() {
				tokens += int(b.Tokens)
			}
			if tokens != turn.PromptLen || turn.OutputLen < 1 {
				t.Errorf("turn %d has %d tokens in blocks, and says %d", k, tokens, turn.PromptLen)
			}
			if turn.Agent == "main" {
				systems[turn.Blocks[0]]++
			}
			before, later := last[turn.Agent]
			last[turn.Agent] = k
			if !later {
				continue
			}
			// The prompt before, its answer, and what the turn adds.
			b := &c.Turns[before]
			n := len(b.Blocks)
			if len(turn.Blocks) != n+2 || !slices.Equal(turn.Blocks[:n], b.Blocks) || int(turn.Blocks[n].Tokens) != b.OutputLen {
				t.Errorf("turn %d does not extend turn %d", k, before)
			}
			if &turn.Blocks[0] != &b.Blocks[0] {
				t.Errorf("turns %d and %d share no array", before, k)
			}
			if w := c.WaitsOf(k)[0]; w.Turn != before || w.History != dataset.Nothing {
				t.Errorf("turn %d waits for %v", k, w)
			}
		}
		minted := c.Turns[len(c.Turns)-1]
		if err := c.Mint(&minted); err != nil || len(minted.TokenIDs) != minted.PromptLen {
			t.Errorf("minted %d tokens of %d, %v", len(minted.TokenIDs), minted.PromptLen, err)
		}
	}
	if len(systems) < 2 || len(systems) > 4 {
		t.Errorf("%d system prompts", len(systems))
	}
}

// Lines send the same prompts whatever the seed, as blocks have all that their tokens depend on.
func TestWrittenSessionsSendTheSame(t *testing.T) {
	for _, text := range []bool{false, true} {
		d := agents()
		d.Tokenizer, d.Text = stub, text
		var lines strings.Builder
		want := all(t, d)
		for _, c := range want {
			if err := replay.WriteLine(&lines, c, 0); err != nil {
				t.Fatal(err)
			}
		}
		file := replay.File{Options: dataset.Options{Path: saved(t, "f.jsonl", lines.String()), Seed: 99, Tokenizer: stub}, Text: text}
		for i, c := range all(t, file) {
			for k := range c.Turns {
				a, err := c.Prompted(k, nil)
				if err != nil {
					t.Fatal(err)
				}
				b, err := want[i].Prompted(k, nil)
				if err != nil {
					t.Fatal(err)
				}
				if a.Prompt != b.Prompt || !slices.Equal(a.TokenIDs, b.TokenIDs) || len(a.Prompt)+len(a.TokenIDs) == 0 {
					t.Errorf("text %v: turn %d of session %d is another", text, k, i)
				}
			}
		}
	}
}

func TestSubAgentsAreStartedAndJoined(t *testing.T) {
	for _, c := range all(t, agents()) {
		mains := 0
		for k := range c.Turns {
			turn := &c.Turns[k]
			waits := c.WaitsOf(k)
			switch {
			case turn.Agent != "main":
				if !turn.Tool || turn.Gap != 0.5 || len(waits) != 1 {
					t.Errorf("turn %d of %s waits for %v, gap %v", k, turn.Agent, waits, turn.Gap)
				}
			case mains == 0:
				if len(waits) != 0 || turn.Gap != 0 {
					t.Errorf("the first turn waits for %v", waits)
				}
				mains++
			default:
				// 5 turns each: one of the main agent, two of each sub-agent.
				want := []dataset.Wait{{Turn: k - 5}, {Turn: k - 3}, {Turn: k - 1}}
				if !reflect.DeepEqual(waits, want) || !turn.Tool {
					t.Errorf("turn %d waits for %v, want %v", k, waits, want)
				}
				mains++
			}
		}
		if mains < 3 || mains > 5 || len(c.Turns) != 5*mains-4 {
			t.Errorf("%d turns, %d of the main agent", len(c.Turns), mains)
		}
	}
}

func TestGrowthAndTheModelsLengthBoundASession(t *testing.T) {
	d := Synthetic{
		Options: dataset.Options{Num: 1, VocabSize: 100}, Turns: dist("9"), MaxModelLen: 300, Shape: Shape{First: dist("100"), Input: dist("10"), Growth: 2, Output: dist("5")},
	}
	var got []int
	c := all(t, d)[0]
	for _, turn := range c.Turns {
		got = append(got, turn.PromptLen)
	}
	// 100, then 5 of the answer and 10, 20, 40 and 80 tokens; 80 more would end at 320.
	if want := []int{100, 115, 140, 185, 270}; !slices.Equal(got, want) {
		t.Errorf("prompts of %v tokens, want %v", got, want)
	}
	if c.Turns[0].Agent != "" {
		t.Errorf("agent %q in a session of one", c.Turns[0].Agent)
	}
	d.MaxModelLen = 104
	source, _, err := d.Open()
	for _, err = range source {
		break
	}
	if want := "session 0: its first prompt and answer exceed 104 tokens"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestLiveTurnsOnlyAdd(t *testing.T) {
	d := agents()
	d.Tokenizer, d.Live, d.Chat, d.Num = stub, true, true, 2
	for _, c := range all(t, d) {
		said := make([][]byte, len(c.Turns))
		for k := range c.Turns {
			turn := &c.Turns[k]
			if turn.Blocks != nil {
				t.Fatalf("turn %d has blocks", k)
			}
			said[k] = answer("<answer " + fmt.Sprint(k) + ">")
			own := strings.Count(string(turn.Messages), `"role"`)
			first := len(c.WaitsOf(k)) == 0 || c.WaitsOf(k)[0].History == dataset.Nothing
			if (own == 2) != first || own > 2 {
				t.Errorf("turn %d has %d messages: %s", k, own, turn.Messages)
			}
		}
	}
}

func TestDistributionsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]string{
		"512": "512", "constant:value=3": "3", "uniform:min=1,max=9": "uniform:min=1,max=9", "constant:value=3,min=5": "constant:value=3,min=5",
		"lognormal:sigma=0.6,mean=500,max=4000": "lognormal:mean=500,sigma=0.6,max=4000", "zipf:alpha=1.5": "zipf:alpha=1.5",
		"poisson:mean=4,min=1": "poisson:mean=4,min=1", "exponential:mean=2.5": "exponential:mean=2.5", "normal:mean=5,sigma=0": "normal:mean=5,sigma=0",
	} {
		d, err := draw.ParseDist(text)
		if err != nil || d.String() != want {
			t.Errorf("%s became %s, %v", text, d, err)
		}
		if again, err := draw.ParseDist(d.String()); err != nil || again != d {
			t.Errorf("%s became %+v, %v", d, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                          "must be a number, or constant, uniform, normal, lognormal, poisson, exponential or zipf with its parameters, such as lognormal:mean=500,sigma=0.6",
		"gauss:mean=1":              "must be a number, or constant, uniform, normal, lognormal, poisson, exponential or zipf with its parameters, such as lognormal:mean=500,sigma=0.6",
		"normal:mean=1":             "normal needs sigma",
		"uniform":                   `"" is not a parameter and its number, such as mean=500`,
		"uniform:min=3,max=2":       "max is 2: must not be below min",
		"normal:mean=1,sigma=x":     `"sigma=x" is not a parameter and its number, such as mean=500`,
		"poisson:mean=1,sigma=2":    `poisson has no parameter "sigma"`,
		"zipf:alpha=1":              "alpha is 1: must be above 1",
		"-3":                        "-3 is out of range: must not be negative, and at most 2147483648",
		"lognormal:mean=0,sigma=1":  "mean is 0: must be above 0",
		"exponential:mean=1,min=-1": "min is -1: must not be negative",
		"constant:value=NaN":        `"value=NaN" is not a parameter and its number, such as mean=500`,
	} {
		shown := text
		if text == "-3" {
			shown = "constant:value=-3"
		}
		if _, err := draw.ParseDist(text); err == nil || err.Error() != fmt.Sprintf("distribution %q: %s", shown, want) {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// Means of 20,000 draws are within six standard errors of what the parameters say.
func TestDrawsHaveTheirMeans(t *testing.T) {
	zipf := 0.0 // 1 to 100 with probabilities as k^-2.5
	norm := 0.0
	for k := 1.0; k <= 100; k++ {
		zipf += math.Pow(k, -1.5)
		norm += math.Pow(k, -2.5)
	}
	for _, row := range []struct {
		text     string
		mean, sd float64
	}{
		{"7.5", 7.5, 0}, {"uniform:min=2,max=6", 4, 4 / math.Sqrt(12)}, {"normal:mean=50,sigma=4", 50, 4}, {"exponential:mean=3", 3, 3},
		{"lognormal:mean=500,sigma=0.6", 500, 500 * math.Sqrt(math.Exp(0.36)-1)}, {"poisson:mean=4", 4, 2}, {"poisson:mean=40", 40, math.Sqrt(40)},
		{"zipf:alpha=2.5,max=100", zipf / norm, 4},
	} {
		const n = 20000
		d, sum := dist(row.text), 0.0
		for i := range n {
			x := d.Draw(draw.Keyed(1, "test", i))
			if x < 0 || d.Max != 0 && x > d.Max || x < d.Min {
				t.Fatalf("%s drew %v", row.text, x)
			}
			sum += x
		}
		if mean := sum / n; math.Abs(mean-row.mean) > 6*row.sd/math.Sqrt(n) {
			t.Errorf("%s has a mean of %v, want %v", row.text, mean, row.mean)
		}
	}
	counts := map[int]int{}
	for i := range 9000 {
		counts[dist("uniform:min=1,max=3").Whole(draw.Keyed(1, "whole", i), 1)]++
	}
	for k := 1; k <= 3; k++ {
		if math.Abs(float64(counts[k])-3000) > 6*math.Sqrt(2000) {
			t.Errorf("%d of 9000 whole draws are %d", counts[k], k)
		}
	}
}
