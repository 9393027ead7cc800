// Package sound reads sounds from WAV and FLAC files, and writes them as WAV.
//
// It reads the samples that libsndfile reads, bit for bit, and writes the bytes that libsndfile
// writes. vLLM's client reads and writes sounds with that library. The package knows the WAV formats
// that speech is kept in: PCM of 8 to 32 bits, floating point, A-law and μ-law. It measures
// MP3, but decodes no MP3, Ogg or NIST SPHERE.
package sound
