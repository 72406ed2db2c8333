from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.shell import read_commands
from compute_budget_planner.readers.shell_arithmetic import integer_value
from hypothesis import given
from hypothesis import strategies as st


def commands(text, **known):
    script = read_commands(SourceFile("job.sh", text), known)
    return [(command.line, command.words) for command in script.commands]


def test_continued_lines_keep_the_number_of_the_first():
    text = "cd x\n\npython train.py \\\n  --lr 1e-3 \\\n  --n 2\necho done\n"
    assert commands(text) == [
        (1, ("cd", "x")),
        (3, ("python", "train.py", "--lr", "1e-3", "--n", "2")),
        (6, ("echo", "done")),
    ]


def test_comments_are_left_out_and_quoted_signs_stay():
    text = "# python old.py\npython a.py --tag '#1 & co' # note\n"
    assert commands(text) == [(2, ("python", "a.py", "--tag", "#1 & co"))]


def test_variables_defaults_and_arithmetic_expand():
    text = (
        'A=2 B="x y"\nexport N=$((A * 8 + 1))\n'
        'run "$B" ${C:-7} ${D:-$A} $N $((SLURM_NNODES*4)) ${1:-5}\n'
    )
    assert commands(text, SLURM_NNODES="3") == [(3, ("run", "x y", "7", "2", "17", "12", "5"))]


def test_what_the_text_does_not_settle_keeps_its_dollar():
    text = 'python t.py --a $1 --b $(date +%s) --c "$UNSET" "$@"\n'
    assert commands(text)[0][1][3:] == ("$1", "--b", "$(date +%s)", "--c", "$UNSET", "$@")


def test_arrays_expand_to_their_elements():
    text = 'ARGS=(\n  --lr 1e-4  # rate\n  "two words"\n)\nARGS+=(--x)\nrun "${ARGS[@]}"\n'
    assert commands(text) == [(6, ("run", "--lr", "1e-4", "two words", "--x"))]


def test_appended_command_strings_are_split_and_run_by_eval():
    text = 'CMD="python t.py"\nCMD+=" --lr 1"\neval $CMD\n'
    assert commands(text) == [(3, ("python", "t.py", "--lr", "1"))]


def test_the_text_of_bash_dash_c_is_read_behind_its_launcher():
    text = 'N=4\nsrun -n 2 bash -c "cd x && torchrun --nproc_per_node $N t.py"\n'
    assert commands(text) == [
        (2, ("srun", "-n", "2", "cd", "x")),
        (2, ("srun", "-n", "2", "torchrun", "--nproc_per_node", "4", "t.py")),
    ]


def test_arguments_of_bash_dash_c_are_known_inside():
    assert commands("bash -c 'python \"$@\" --k $1' _ t.py 7\n") == [
        (1, ("python", "t.py", "7", "--k", "t.py"))
    ]


def test_here_documents_and_redirections_are_no_commands():
    text = "cat <<EOF > f\npython no.py\nEOF\npython yes.py > log 2>&1 &\n"
    assert commands(text) == [(1, ("cat",)), (4, ("python", "yes.py"))]


def test_a_decided_branch_alone_is_read():
    text = (
        "SIZE=52\nif [[ ${SIZE} == 13 ]]; then\n  L=40\nelif [[ $SIZE == 52 ]]; then\n  L=64\n"
        "else\n  L=1\nfi\nrun $L\n"
    )
    assert commands(text) == [(9, ("run", "64"))]


def test_an_open_branch_leaves_the_variable_open_and_says_so():
    text = 'if [ "$1" == "a" ]; then\n  K=1\nelse\n  K=2\nfi\nrun $K\n'
    script = read_commands(SourceFile("job.sh", text))
    assert [command.words for command in script.commands] == [("run", "$K")]
    assert [(p.source, p.text) for p in script.problems] == [
        ("job.sh:4", "`K` is `1` or `2`, by a condition this file does not decide.")
    ]


def test_arguments_of_the_call_do_not_hide_the_default_of_the_file():
    text = 'LR=1e-4\nwhile [ $# -gt 0 ]; do case $1 in --lr) LR="$2" ;; esac; done\nrun $LR\n'
    assert commands(text)[-1] == (3, ("run", "1e-4"))


def test_guards_set_only_what_is_missing():
    text = 'A=1\n[ -z "$A" ] && A=5\n[ -z "$B" ] && B=6\nrun $A $B\n'
    assert commands(text) == [(4, ("run", "1", "6"))]


def test_loops_are_read_once_with_their_count():
    text = (
        "for s in 1 2 3; do\n for t in {1..4}; do\n  run $s\n done\ndone\nfor f in *; do go; done\n"
    )
    script = read_commands(SourceFile("job.sh", text))
    assert [(c.words, c.loop_runs) for c in script.commands] == [
        (("run", "$s"), 12),
        (("go",), None),
    ]


def test_variables_in_front_of_a_command_are_its_own():
    script = read_commands(SourceFile("job.sh", "CUDA_VISIBLE_DEVICES=0,1 python t.py\nX=1\n"))
    assert dict(script.commands[0].environment) == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert list(script.assignments) == ["X"]


def test_exported_variables_are_marked():
    script = read_commands(SourceFile("job.sh", "A=1\nB=2\nexport B\nexport C=3\n"))
    assert {a.name: a.exported for a in script.assignments.values()} == {
        "A": False,
        "B": True,
        "C": True,
    }


def test_whole_number_expressions_divide_towards_zero():
    assert integer_value("7 / 2 * (3 - -1)") == 12
    assert integer_value("-7 / 2") == -3
    assert [integer_value(t) for t in ("1 / 0", "9 ** 99 ** 9", "a", "1.5", "f(1)")] == [None] * 5


def test_growing_values_are_cut_off():
    text = "A=xxxxxxxxxx\n" + 'A="$A$A"\n' * 40 + "run $A\n"
    assert len(commands(text)[0][1][1]) <= 10_000


_PIECES = st.lists(
    st.sampled_from(
        ["$(", "${A", ":-", "}", ")", '"', "'", "`", "\\", "\n", "A=(", "if [ ", " ]; then ", "$((",
         "))", "fi", "for x in ",
         "; do ", "done", "<<E\n", "case ", "bash -c ", "eval ", "$@", "&&",
         "export ", "A+=", " ", "python t.py ", "--lr ", "1", "$A", "\0"]
    ),
    max_size=30,
)  # fmt: skip


@given(_PIECES | st.text(max_size=60).map(lambda text: [text]))
def test_no_text_breaks_the_reader(pieces):
    script = read_commands(SourceFile("job.sh", "".join(pieces)))
    assert all(command.words for command in script.commands)


CHAIN = """\
SIZE=$1
if [ $SIZE = s ]; then
  L=12
  V=32000
elif [ $SIZE = m ]; then
  L=24
  V=32000
elif [ $SIZE = l ]; then
  L=48
  V=32000
  E=8
fi
run $L $V "$E"
"""


def test_the_last_branch_of_a_chain_on_an_argument_is_never_chosen():
    script = read_commands(SourceFile("job.sh", CHAIN))
    assert script.commands[0].words == ("run", "$L", "32000", "$E")
    assert [(p.source, p.text) for p in script.problems] == [
        ("job.sh:9", "`L` is `12` or `24` or `48`, by a condition this file does not decide.")
    ]


def test_each_branch_starts_from_what_stands_in_front_of_all():
    text = 'A="x"\nif [ "$1" = 1 ]; then\n  A="$A y"\n  one $A\nelse\n  two $A\nfi\n'
    assert commands(text) == [(4, ("one", "x", "y")), (6, ("two", "x"))]


def test_what_one_branch_appends_is_left_away():
    text = 'ARGS="--a 1"\nif [ "$1" = fast ]; then ARGS="$ARGS --b 2"; fi\nrun $ARGS\n'
    assert commands(text) == [(3, ("run", "--a", "1"))]


def test_a_case_on_a_known_word_takes_the_branch_that_fits():
    text = (
        "M=large\ncase $M in\n  small|tiny) L=2 ;;\n  lar*) L=9\n  W=3 ;;\n  *) L=0 ;;\nesac\n"
        "run $L $W\n"
    )
    assert commands(text) == [(8, ("run", "9", "3"))]


def test_a_case_on_an_argument_leaves_its_values_open():
    text = "case $1 in\n  a) L=1 ;;\n  *) L=2 ;;\nesac\nrun $L\n"
    assert commands(text) == [(5, ("run", "$L"))]


def test_conditions_joined_by_and_and_or_are_decided_together():
    text = (
        "A=1\nB=2\nif [[ $A == 1 && $B == 3 || $B == 2 ]]; then C=yes; else C=no; fi\n"
        "if [ $A = 1 ] && ! [ $B = 2 ]; then D=yes; else D=no; fi\nrun $C $D\n"
    )
    assert commands(text) == [(5, ("run", "yes", "no"))]


def test_a_guard_may_have_another_branch():
    text = "A=1\n[ $A = 1 ] && B=one || B=other\n[ $A = 2 ] || { C=set; }\nrun $B $C\n"
    assert commands(text) == [(4, ("run", "one", "set"))]


def test_a_function_is_read_where_it_is_called_with_its_arguments():
    text = "train() {\n  python t.py --lr $1\n}\ntrain 3\ntrain 4\n"
    assert commands(text) == [
        (2, ("python", "t.py", "--lr", "3")),
        (2, ("python", "t.py", "--lr", "4")),
    ]


def test_a_function_nobody_calls_by_name_is_read_once():
    assert commands('go() { python t.py; }\n"$@"\n') == [(2, ("$@",)), (1, ("python", "t.py"))]


def test_a_here_document_of_a_shell_is_run_and_keeps_its_lines():
    text = "N=4\nsrun bash <<'EOF'\ncd x\n\npython t.py --n $N\nEOF\n"
    assert commands(text) == [
        (3, ("srun", "cd", "x")),
        (5, ("srun", "python", "t.py", "--n", "4")),
    ]


def test_what_a_shell_of_its_own_sets_its_caller_does_not_see():
    assert commands("A=1\nbash -c 'A=2; one $A'\ntwo $A\n") == [
        (2, ("one", "2")),
        (3, ("two", "1")),
    ]


def test_quotes_inside_a_substitution_are_its_own():
    text = 'D="$(python -c "import x; print(x.y)")/t.py"\npython a.py\n'
    assert commands(text) == [(2, ("python", "a.py"))]


def test_commands_of_different_branches_exclude_each_other():
    text = 'if [ "$1" = a ]; then one; two; else three; fi\nfour\n'
    one, two, three, four = read_commands(SourceFile("job.sh", text)).commands
    assert [one.excludes(other) for other in (two, three, four)] == [False, True, False]
