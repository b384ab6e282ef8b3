"""What `redact` promises for whole files, spelled out; the laws as properties are in laws_test.py."""

from __future__ import annotations

import pytest

from reprokit.redact.rule import fake
from reprokit.redact.secrets import Redactor, redact, scan

HF = b"hf_" + fake(3, 34)
OTHER = b"hf_" + fake(4, 34)
HEX = fake(6, 40, "0123456789abcdef")


def test_the_echo_of_a_batch_script_hides_a_token_each_time() -> None:
    text = b"export HF_TOKEN=%s\n+ export HF_TOKEN=%s\n+ HF_TOKEN=%s\n" % (HF, HF, HF)
    result = redact(text)
    mark = b"[secret-hf-token-1]"
    assert result.data == b"export HF_TOKEN=%s\n+ export HF_TOKEN=%s\n+ HF_TOKEN=%s\n" % (mark, mark, mark)
    assert [(hit.rule, hit.line, hit.placeholder) for hit in result.hits] == [
        ("hugging-face", line, mark.decode()) for line in (1, 2, 3)
    ]


def test_one_secret_has_one_placeholder_in_all_files_however_it_is_written() -> None:
    redactor = Redactor()
    first = redactor.redact(b"logger.hf_token=" + HF)
    second = redactor.redact(b'{"HF_TOKEN": "' + HF + b'"}')
    third = redactor.redact(b"--hf_token " + OTHER + b" https://user:" + HF + b"@hf.co/x")
    assert first.data == b"logger.hf_token=[secret-hf-token-1]"
    assert second.data == b'{"HF_TOKEN": "[secret-hf-token-1]"}'
    assert third.data == b"--hf_token [secret-hf-token-2] https://user:[secret-hf-token-1]@hf.co/x"


def test_only_counts_outlive_a_redactor_and_keep_numbers_apart() -> None:
    redactor = Redactor()
    redactor.redact(b"DB_PASSWORD=hunter22\n" + HF)
    assert redactor.counts == {"hf-token": 1, "password": 1}
    later = Redactor(redactor.counts)
    assert later.redact(OTHER).data == b"[secret-hf-token-2]"


def test_numbers_that_stand_in_a_file_already_are_not_given_again() -> None:
    assert (
        redact(b"HF_TOKEN=[secret-hf-token-4]\n" + HF).data
        == b"HF_TOKEN=[secret-hf-token-4]\n[secret-hf-token-5]"
    )
    redactor = Redactor()
    redactor.observe(b"x [secret-hf-token-7] y")
    assert redactor.redact(HF).data == b"[secret-hf-token-8]"


def test_a_long_secret_is_hidden_where_only_its_bytes_give_it_away() -> None:
    text = b"job " + HEX + b" starts\n+ WANDB_API_KEY=" + HEX + b"\ndone x" + HEX + b"\n"
    result = redact(text)
    assert result.data == (
        b"job [secret-wandb-key-1] starts\n+ WANDB_API_KEY=[secret-wandb-key-1]\ndone x" + HEX + b"\n"
    )
    assert [hit.line for hit in result.hits] == [1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"HF_TOKEN=\x1b[32m" + HF + b"\x1b[0m\n", b"HF_TOKEN=\x1b[32m[secret-hf-token-1]\x1b[0m\n"),
        (HF[:9] + b"\x1b[1m" + HF[9:] + b"\x1b[0m x", b"[secret-hf-token-1]\x1b[1m\x1b[0m x"),
        (b"h\x1b[31mf_" + HF[3:], b"[secret-hf-token-1]\x1b[31m"),
        (
            b"\x1b]8;;https://u:pa55wd@h/\x1b\\link\n",
            b"\x1b]8;;https://u:[secret-url-password-1]@h/\x1b\\link\n",
        ),
    ],
)
def test_colour_codes_neither_hide_a_secret_nor_get_lost(text: bytes, expected: bytes) -> None:
    assert redact(text).data == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_token_that_a_hard_wrap_cut_in_two_is_hidden_on_both_lines(end: bytes) -> None:
    text = b"--hf_token " + HF[:20] + end + HF[20:] + b" --x" + end
    assert redact(text).data == b"--hf_token [secret-hf-token-1]" + end + b"[secret-hf-token-1] --x" + end


def test_a_short_prefix_at_a_line_end_takes_nothing_from_the_next_line() -> None:
    text = b"see hf_hub\nabcdef and hf_\nmodelname\n"
    assert redact(text).data == text


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "utf-16-be", "utf-16-le"])
def test_wide_encodings_with_a_byte_order_mark(codec: str) -> None:
    mark = "" if codec in ("utf-16", "utf-32") else "\ufeff"
    text = f"{mark}Zeile ü\r\nHF_TOKEN={HF.decode()}\r\n".encode(codec)
    result = redact(text + b"\x7f" * (1 if codec != "utf-32" else 3))
    assert result.data.startswith(f"{mark}Zeile ü\r\nHF_TOKEN=[secret-hf-token-1]\r\n".encode(codec))
    assert result.hits[0].line == 2


def test_environment_blocks_with_nul_between_and_carriage_returns() -> None:
    text = b"A=1\0HF_TOKEN=" + HF + b"\0B=2\r 10%|#| HF_TOKEN=x7Kq9TzLm2Qw\r 20%|##|"
    assert (
        redact(text).data
        == b"A=1\0HF_TOKEN=[secret-hf-token-1]\0B=2\r 10%|#| HF_TOKEN=[secret-hf-token-2]\r 20%|##|"
    )


KEY = b"PRIVATE KEY-----"
BODY = [fake(n, 64, "QwErTyUiOp+/Lk7Jh8Gf") for n in range(3)] + [b"abc123=="]


@pytest.mark.parametrize("tag", [b"", b"0: ", b"[rank3]: ", b"    "])
def test_a_key_block_keeps_its_lines(tag: bytes) -> None:
    lines = [
        b"before",
        tag + b"-----BEGIN RSA " + KEY,
        *(tag + part for part in BODY),
        tag + b"-----END RSA " + KEY,
        b"after",
    ]
    result = redact(b"\r\n".join(lines))
    mark = tag + b"[secret-private-key-1]"
    assert result.data.split(b"\r\n") == [lines[0], lines[1], mark, mark, mark, mark, *lines[-2:]]
    assert [hit.line for hit in result.hits] == [3, 4, 5, 6]
    assert scan(result.data) == ()


def test_a_key_block_without_end_hides_its_full_lines_only() -> None:
    text = b"-----BEGIN " + KEY + b"\n" + b"\n".join(BODY[:3]) + b"\niteration 1 done\nwords\n"
    assert redact(text).data.endswith(b"[secret-private-key-1]\niteration 1 done\nwords\n")


def test_a_key_after_a_variable_name() -> None:
    text = (
        b'SSH_PRIVATE_KEY="-----BEGIN OPENSSH '
        + KEY
        + b"\n"
        + BODY[0]
        + b"\n-----END OPENSSH "
        + KEY
        + b'"\n'
    )
    assert redact(text).data == text.replace(BODY[0], b"[secret-private-key-1]")


UNTOUCHED = [
    b"[default0]:[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 12.00 MiB.",
    b"3: iteration 2/ 100 | tokens per sec: 123.4 | lm loss: 1.2E+01",
    b"SLURM_NODELIST=gb-nvl-[001-002,007]",
    b"NUM_OF_TOKENS_PER_CHUNK_COMBINE_API=128 TOKENIZERS_PARALLELISM=False",
    b"cuDNN 9.14.0.64, driver 580.95.05, NCCL version 2.30.4+cuda13.3, torch 2.12.0a0+0291f960b6.nv26.04.48445190",
    b"nvcr.io/nvidia/nemo@sha256:" + b"0a1b" * 16,
    b"HEAD is now at 7c1f0b9e44d2a86530e7bb1295cfa0d83e61274f key: value",
    b"Keys: segments, keys: /default_pg/0//cuda//0",
    b"num_tokens=4096, key_value_heads=8, kv_channels: 128, pad_token_id=0",
    b"moe_token_dispatcher_type: 'flex'",
    b"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,graph_capture_record_stream_reuse:True",
    b"CUDA_VISIBLE_DEVICES=GPU-1a2b3c4d-1a2b-1a2b-1a2b-1a2b3c4d5e6f",
    b"    key = torch.empty(shape, device=self.device)",
    b"    query, key, value = self.get_query_key_value_tensors(hidden_states)",
    b"store key: cuda_device_count_7f3a, store->get('0:1')",
    b"AuthType=auth/munge AuthInfo=socket=/run/munge.sock",
    b"tcp://10.0.0.7:29500, git@github.com:NVIDIA/Megatron-LM.git",
]


@pytest.mark.parametrize("line", UNTOUCHED, ids=range(len(UNTOUCHED)))
def test_what_logs_are_full_of_stays(line: bytes) -> None:
    assert redact(line).data == line


def test_a_placeholder_number_too_high_to_be_ours_is_not_counted_on() -> None:
    text = b"PASSWORD=[secret-password-999999999] PASSWORD=hunter2"
    assert redact(text).data == b"PASSWORD=[secret-password-999999999] PASSWORD=[secret-password-1]"


def test_lines_are_the_same_whatever_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(b"line %d\nDB_PASSWORD=hunter%d\n" % (i, i % 3) for i in range(50)) + b"PASSWORD=last"
    whole = redact(text)
    monkeypatch.setattr("reprokit.redact.lines.CHUNK", 16)
    monkeypatch.setattr("reprokit.redact.lines.chunks.__defaults__", (16,))
    assert redact(text) == whole
    assert [hit.line for hit in whole.hits] == [*range(2, 101, 2), 101]
