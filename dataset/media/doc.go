// Package media makes images as vLLM's client sends them: JPEG files byte for byte as Pillow writes
// them by default, data URLs, and content parts of chats.
package media
