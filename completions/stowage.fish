# fish completion for stowage, printed by `stowage completion fish`. Requires fish 3.1 or later.
# Output of `stowage __complete` is data: nothing in it is expanded or run. fish quotes insertions.

function __stowage_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # For --option=value, completes the value.
    set -l before (string match --regex -- '^--[^=]+=' "$current")
    set -l program (command --search stowage $words[1]); or return
    set -l answer (command $program[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if test "$answer[-1]" = :0
        set answer (__fish_complete_path (string replace -- "$before" '' "$current"))
    else
        set answer (string match --invert --regex -- '^:' $answer)
    end
    string join -- \n "$before"$answer
end

complete --command stowage --command kubectl-stowage --no-files --arguments '(__stowage_complete)'
