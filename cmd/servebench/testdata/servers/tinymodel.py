"""Writes a llama with random weights, and a tokenizer with the words of stub-32000, into a folder."""
import sys

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

folder = sys.argv[1]
words = ["<unk>", "<s>", "</s>", "user", "assistant", *(f"tok{i}" for i in range(32000))]
words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
tokenizer.chat_template = (
    "{% for m in messages %}{{ m.role }} {{ m.content if m.content is string else m.content[0].text }} {% endfor %}assistant "
)
tokenizer.save_pretrained(folder)

torch.manual_seed(1)
LlamaForCausalLM(LlamaConfig(
    vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, max_position_embeddings=2048, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False,
)).save_pretrained(folder)
