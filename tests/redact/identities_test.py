from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprokit.redact.identities import StandIns

KNOWN = {
    "host": ["gb-nvl-001", "gb-nvl-002", "dgx-r3n11", "lab7.corp.example.net", "gpu", "host_oom", "quark"],
    "user": ["alice", "root", "mhalvorsen", "t.bergqvist"],
    "path": ["/home/alice", "/lustre/fsw/llm/users/alice/kit", "/opt"],
    "slurm_account": ["perf_llm_fw"],
    "registry": ["registry.internal:5005/acme"],
}


@pytest.fixture
def stand_ins() -> StandIns:
    return StandIns(KNOWN)


def test_numbers_follow_the_order_of_registration(stand_ins: StandIns) -> None:
    assert list(stand_ins.mapping.items())[:4] == [
        ("gb-nvl-001", "host-1"),
        ("gb-nvl-002", "host-2"),
        ("dgx-r3n11", "host-3"),
        ("lab7", "host-4"),
    ]
    assert stand_ins.mapping["lab7.corp.example.net"] == "host-4"
    assert stand_ins.mapping["/lustre/fsw/llm/users/alice/kit"] == "/path-2"
    assert stand_ins.mapping["perf_llm_fw"] == "account-1"


def test_everyday_words_and_short_names_are_refused(stand_ins: StandIns) -> None:
    assert stand_ins.refused == ("gpu", "root", "/opt")
    assert StandIns({"user": ["ab", "train", "localhost", "1234"], "host": ["node-0", "rank3"]}).mapping == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/x/src/host_oom/optimizer.py", "/path-1/x/src/host_oom/optimizer.py"),
        ('File "/lustre/fsw/llm/users/alice/kit/a.py"', 'File "/path-2/a.py"'),
        (
            "-I/home/alice/inc file:///home/alice/y a:/home/alice:/z",
            "-I/path-1/inc file:///path-1/y a:/path-1:/z",
        ),
        ("srun: error: dgx-r3n11: task 0: Out Of Memory", "srun: error: host-3: task 0: Out Of Memory"),
        ("dgx-r3n11.cluster.example:11:12 [0] NCCL INFO x", "host-3:11:12 [0] NCCL INFO x"),
        ("dgx-r3n11_rank0.log dgx-r3n11.out dgx-r3n110", "host-3_rank0.log host-3.out dgx-r3n110"),
        ("slurmstepd-dgx-r3n11: error", "slurmstepd-host-3: error"),
        ("/tmp/torchinductor_mhalvorsen/4u/x.py", "/tmp/torchinductor_user-2/4u/x.py"),
        ("UserId=alice(1234) malice alice.py alice_x", "UserId=user-1(1234) malice alice.py alice_x"),
        ("#SBATCH --account=perf_llm_fw", "#SBATCH --account=account-1"),
        ("pull registry.internal:5005/acme/nemo:26.06@sha256:0a1b", "pull registry-1/nemo:26.06@sha256:0a1b"),
        ("scp alice@dgx-r3n11:/x . ; git@github.com:a/b", "scp user-1@host-3:/x . ; git@github.com:a/b"),
        ("gpu_oom on gpu 3, quark and src/quark/a.py", "gpu_oom on gpu 3, host-6 and src/quark/a.py"),
        ('{"cwd": "a\\n/home/alice/x\\nalice"}', '{"cwd": "a\\n/path-1/x\\nuser-1"}'),
    ],
)
def test_known_values(stand_ins: StandIns, text: str, expected: str) -> None:
    assert stand_ins.apply(text) == expected
    assert stand_ins.apply(expected) == expected
    assert stand_ins.remaining(expected) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SLURM_NODELIST=gb-nvl-[001-002]", "SLURM_NODELIST=host-[1-2]"),
        ("gb-nvl-[001-002,007] up", "host-[1-2,7] up"),
        ("SLURM_JOB_NODELIST=new-[3-4],dgx-r3n11", "SLURM_JOB_NODELIST=host-[7-8],host-3"),
        ("layers[1-2] x[0] rank[0-3]", "layers[1-2] x[0] rank[0-3]"),
    ],
)
def test_host_lists_keep_their_grammar(stand_ins: StandIns, text: str, expected: str) -> None:
    assert stand_ins.apply(text) == expected
    assert stand_ins.apply(expected) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/bob/x /mnt/nfs/users/carol/y /Users/dan/z", "/path-1/x /path-2/y /path-3/z"),
        ("/root/Megatron-LM/train.py /opt/root/x", "/path-1/Megatron-LM/train.py /opt/root/x"),
        ("see /home/bob.", "see /path-1."),
        ("/usr/lib/python3/dist-packages/home/x/y.py src/home/page.html", None),
        ("head_node_ip=10.0.0.7 tcp://10.0.0.7:29500", "head_node_ip=ip-1 tcp://ip-1:29500"),
        ("10.140.62.17: training ...", "ip-1: training ..."),
        ("MASTER_ADDR=8.8.8.8 at 1.2.3.4:80", "MASTER_ADDR=ip-1 at ip-2:80"),
        ("(WorkerDict pid=1, ip=10.41.7.12)", "(WorkerDict pid=1, ip=ip-1)"),
        ("127.0.0.1 0.0.0.0 255.255.255.0 999.1.1.1", None),
        ("cuDNN 9.14.0.64 and driver 580.95.05, CUDA 13.0.2.006", None),
        ("nvidia-curand-cu12==10.3.5.147 | nvidia-curand-cu12        10.3.5.147", None),
        ("libcurand.so.10.3.5.147, cuRAND version: 10.3.5.147", None),
        ("fe80::1 2001:db8::7", "ip-1 ip-2"),
        ("12:34:56 c10::Error a::b ::1 aa:bb:cc:dd:ee:ff 0:1:2:3:4:5:6:7", None),
        ("Author: Bob <bob.x@example.com>", "Author: Bob <email-1>"),
        ("x@self.weight @torch.compile nemo@sha256:ab12", None),
        ("SLURMD_NODENAME=dgx-9\nreached dgx-9 again", "SLURMD_NODENAME=host-1\nreached host-1 again"),
        ("done on zz-07\nJOB 7 ON zz-07 CANCELLED", "done on host-1\nJOB 7 ON host-1 CANCELLED"),
        ("USER=vllm runs vllm serve", "USER=user-1 runs vllm serve"),
        ("[pod/big-worker-0-9dzt2/trainer] x", "[pod/host-1/trainer] x"),
        ("[rank3]: 12.00 MiB [default0]:[rank0]: step", None),
    ],
)
def test_values_that_the_text_gives_away(text: str, expected: str | None) -> None:
    stand_ins = StandIns({})
    assert stand_ins.apply(text) == (text if expected is None else expected)
    assert stand_ins.apply(expected or text) == (expected or text)


def test_the_same_value_is_the_same_in_all_texts() -> None:
    stand_ins = StandIns({"host": ["b-1a", "a-1a"]})
    assert stand_ins.apply("a-1a") == "host-2"
    assert stand_ins.apply("/home/bob/x on b-1a") == "/path-1/x on host-1"
    assert stand_ins.apply("/home/bob/y") == "/path-1/y"
    assert StandIns({"host": ["b-1a", "a-1a"]}).mapping == {"b-1a": "host-1", "a-1a": "host-2"}


def test_a_real_name_that_reads_like_a_stand_in_keeps_its_number() -> None:
    stand_ins = StandIns({"host": ["alpha-9x", "host-1"]})
    assert stand_ins.apply("alpha-9x host-1") == "host-2 host-1"
    assert stand_ins.refused == ("host-1",)


def test_remaining_names_the_lines(stand_ins: StandIns) -> None:
    assert stand_ins.remaining("ok\nat dgx-r3n11\nok\n/home/zoe/x") == (2, 4)


def test_a_thousand_hosts() -> None:
    hosts = [f"cn{number:04d}" for number in range(1000)]
    stand_ins = StandIns({"host": hosts})
    assert stand_ins.apply(" ".join(hosts)) == " ".join(f"host-{number}" for number in range(1, 1001))


words = st.sampled_from(
    [value for values in KNOWN.values() for value in values]
    + [
        "/home/bob",
        "10.0.0.7",
        "fe80::1",
        "a@b.example",
        "alice@dgx-r3n11:",
        "gb-nvl-[001-002]",
        "host-3",
        "/path-1",
    ]
    + [
        "SLURM_NODELIST=",
        "USER=",
        "srun: error: ",
        ": task 1",
        "[rank3]: ",
        "12.00 MiB",
        "\n",
        "\r\n",
        " ",
        "_",
        "-",
        "/",
    ]
    + [".", ":", ",", "=", '"', "\\n", "\x1b[1m", "\ud800", "ü", "x", "0"]
)


@settings(max_examples=800, deadline=None)
@given(st.lists(words | st.text(max_size=4), max_size=14).map("".join))
def test_twice_is_once_and_line_ends_stay(text: str) -> None:
    stand_ins = StandIns(KNOWN)
    once = stand_ins.apply(text)
    assert stand_ins.apply(once) == once
    assert re.findall(r"\r\n|\r|\n", once) == re.findall(r"\r\n|\r|\n", text)
    assert StandIns(KNOWN).apply(text) == once
