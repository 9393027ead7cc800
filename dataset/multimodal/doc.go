// Package multimodal makes prompts with images and sounds, as the datasets custom_image, custom_audio
// and random-mm of vLLM's client do.
package multimodal
