"""A tiny chat model with a tokenizer of its own that has memorised a few replies."""
import json
import os

from models import torch, transformers
import tokenizers

TEMPLATE = (
    "{%- if tools %}{{ '<|im_start|>system\\n' }}{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}{{ '<|im_end|>\\n' }}"
    "{%- endif %}{%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}")


def make_tokenizer(texts, folder, vocab=400, template=TEMPLATE):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"], show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    os.makedirs(folder, exist_ok=True)
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
                   "chat_template": template}, file)
    return tokenizer


def chat(question, answer=None):
    text = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    return text if answer is None else text + answer + "<|im_end|>\n"


def memorise(pairs, folder, steps=120, texts=None, context=512, hidden=64):
    """Trains a Qwen3 until it answers each question of `pairs` with its reply; `texts` replaces the plain chat form."""
    texts = texts or [chat(question, answer) for question, answer in pairs]
    tokenizer = make_tokenizer(texts, folder)
    torch.manual_seed(1)
    config = transformers.Qwen3Config(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=hidden, intermediate_size=2 * hidden, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=context,
        tie_word_embeddings=True, bos_token_id=0, eos_token_id=2, pad_token_id=0)
    model = transformers.AutoModelForCausalLM.from_config(config)
    ids = [torch.tensor(tokenizer.encode(text).ids) for text in texts]
    batch = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=0)
    labels = batch.masked_fill(batch == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    for step in range(steps):
        loss = model(batch, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * (1 - step / steps)
    model.save_pretrained(folder)
    return tokenizer, model.eval(), loss.item()
