// Package multimodal makes prompts with images, as the datasets custom_image and random-mm of vLLM's
// client do.
package multimodal
