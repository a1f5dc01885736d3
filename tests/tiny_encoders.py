"""Tiny random encoders of three families of the package transformers, made without a network."""

from __future__ import annotations

from pathlib import Path

FAMILIES = ("bert", "xlm-roberta", "modernbert")
WIDTH = 12


def make_encoder(folder: Path, family: str, forms: list[str], seed: int = 1) -> Path:
    """Write an encoder of the family with random weights, whose pieces are learnt from some forms."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import AutoModel, PreTrainedTokenizerFast
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    special = {
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "mask_token": "<mask>",
    }
    if family == "bert":
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=60, special_tokens=list(special.values()))
    elif family == "xlm-roberta":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=list(special.values()), unk_token="<unk>")
    else:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        trainer = trainers.BpeTrainer(
            vocab_size=320,
            special_tokens=list(special.values()),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
    tokenizer.train_from_iterator([" ".join(forms)] * 5, trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **special).save_pretrained(folder)
    torch.manual_seed(seed)
    config = CONFIG_MAPPING[family](
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=WIDTH,
        num_hidden_layers=5,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=80,
        pad_token_id=tokenizer.token_to_id("<pad>"),
    )
    AutoModel.from_config(config).save_pretrained(folder)
    return folder
