// Package media makes images as vLLM's client sends them: pixels as Pillow decodes them, JPEG files of Pillow's
// quality and sampling, data URLs, and content parts of chats.
package media
