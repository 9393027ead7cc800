package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/servebench/servebench/loadgen/api/scan"
)

// Why a server of vLLM cannot sleep: it then answers all calls of the sleep mode as if it did.
var (
	errNoSleepMode = errors.New("the server runs without --enable-sleep-mode: it says that it sleeps, and nothing does")
	errNoSleepHere = errors.New("the server computes on a CPU, where vLLM has no sleep mode: it says that it sleeps, " +
		"and nothing does")
)

// CanSleep asks the server whether its sleep mode works, by GET /server_info, which vLLM has in the mode in
// which it has /sleep. The error says why it does not work. known is false if the server does not say:
// other servers, and old releases of vLLM, which only name the device.
func (s *Server) CanSleep(ctx context.Context) (known bool, err error) {
	var reply struct {
		Config json.RawMessage `json:"vllm_config"`
	}
	if s.get("/server_info?config_format=json").decode(ctx, &reply) != nil {
		return false, nil
	}
	var config struct {
		Model struct {
			Sleeps json.RawMessage `json:"enable_sleep_mode"`
		} `json:"model_config"`
		Device struct {
			Device string `json:"device"`
		} `json:"device_config"`
	}
	_ = json.Unmarshal(reply.Config, &config) // what is no object says nothing
	_, device, _ := strings.Cut(scan.Text(reply.Config), "device_config=")
	switch sleeps := string(config.Model.Sleeps); {
	case config.Device.Device == "cpu" || strings.HasPrefix(device, "cpu"):
		return true, errNoSleepHere
	case sleeps == "false":
		return true, errNoSleepMode
	default:
		return sleeps == "true", nil
	}
}
