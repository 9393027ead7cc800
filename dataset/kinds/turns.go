package kinds

import "github.com/servebench/servebench/dataset/sessions"

func conversationTurns(s *Settings, r *Run) Opener {
	return sessions.Conversations{Options: r.Options, Chat: r.Text, MaxTurns: s.MultiTurn.Max}
}

func multiTurns(_ *Settings, r *Run) Opener {
	return sessions.MultiTurn{Options: r.Options, Chat: r.Text, Timed: r.SelfTimed}
}

func mooncakeTurns(s *Settings, r *Run) Opener {
	return sessions.Mooncake{Options: r.Options, Text: r.Text, BlockSize: s.BlockSize}
}

func wekaTurns(_ *Settings, r *Run) Opener { return sessions.Weka{Options: r.Options, Text: r.Text} }

func azureTurns(_ *Settings, r *Run) Opener { return sessions.Azure{Options: r.Options, Text: r.Text} }

func otelTurns(_ *Settings, r *Run) Opener { return sessions.OTel{Options: r.Options, Text: r.Text} }

func syntheticTurns(s *Settings, r *Run) Opener {
	d := s.Synthetic
	d.Options, d.Text, d.Chat, d.Live, d.MaxModelLen = r.Options, r.Text, r.Text, r.Live, s.MultiTurn.MaxModelLen
	return d
}

func shareGPTTurns(s *Settings, r *Run) Opener {
	m := &s.MultiTurn
	d := sessions.ShareGPT{Options: r.Options, Chat: r.Text, MinTurns: max(2, m.Min), MaxTurns: m.Max,
		Delay: m.Delay.Seconds(), MaxModelLen: m.MaxModelLen}
	if s.ShareGPTLen != nil {
		d.OutputLen = *s.ShareGPTLen
	}
	return d
}

func randomTurns(s *Settings, r *Run) Opener {
	d, m, one := s.MultiTurn.Random, &s.MultiTurn, &s.Random
	d.Options, d.Chat, d.Delay, d.MaxModelLen = r.Options, r.Text, m.Delay.Seconds(), m.MaxModelLen
	d.Turns = sessions.TurnRange{Min: m.Min, Max: m.Max}
	d.Lengths = sessions.Lengths{Input: one.InputLen, Later: d.Lengths.Later, Output: one.OutputLen,
		Prefix: one.PrefixLen, Ratio: one.Ratio}
	return d
}
