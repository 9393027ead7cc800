package hold_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// The holders of these tests are this program.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == hold.Verb {
		code, err := hold.Main(os.Args[2])
		if err != nil {
			log.Print(err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func ExampleKeeper() {
	dir, err := os.MkdirTemp("", "hold")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	keeper, err := hold.Open(ctx, dir, 0, func() {})
	if err != nil {
		log.Fatal(err)
	}
	defer keeper.Close()
	keeper.TakeOver()

	server, err := keeper.Start(&hold.Command{Args: []string{"sleep", "1000"}, Grace: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	_, err = hold.Open(ctx, dir, 0, func() {})
	fmt.Println("another keeper is refused:", err != nil)
	server.End()

	check, err := keeper.Start(&hold.Command{Args: []string{"sh", "-c", "echo no GPU is free; exit 3"}, Output: os.Stdout})
	if err != nil {
		log.Fatal(err)
	}
	<-check.Ended.Done()
	fmt.Println(check.Err())
	// Output:
	// another keeper is refused: true
	// no GPU is free
	// exit status 3
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	keeper, err := hold.Open(t.Context(), t.TempDir(), 0, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	h, err := keeper.Start(&hold.Command{Args: []string{"/no/such/program"}})
	if err != nil {
		t.Fatal(err)
	}
	<-h.Ended.Done()
	if h.Err() == nil || h.Err().Error() != "exit status 1" {
		t.Errorf("it ended with %v", h.Err())
	}
}
