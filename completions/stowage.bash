# shellcheck shell=bash
# bash completion for stowage. `stowage completion bash` prints it; it is generated from the tree of commands.
# What is offered is data, whoever named it: nothing of it is expanded or run, here or once it is on the command line.

# The command that the word $1 leads to.
_stowage_command() {
    case "$at/$1" in
        '/create') at='create' ;;
        '/get') at='get' ;;
        '/describe') at='describe' ;;
        '/delete') at='delete' ;;
        '/detach') at='detach' ;;
        '/adopt') at='adopt' ;;
        '/check') at='check' ;;
        '/restore') at='restore' ;;
        '/grant') at='grant' ;;
        '/revoke') at='revoke' ;;
        '/register') at='register' ;;
        '/unregister') at='unregister' ;;
        '/print') at='print' ;;
        '/install') at='install' ;;
        '/uninstall') at='uninstall' ;;
        '/diff') at='diff' ;;
        '/why') at='why' ;;
        '/version') at='version' ;;
        '/watch') at='watch' ;;
        '/sandbox') at='sandbox' ;;
        '/completion') at='completion' ;;
        '/help') at='help' ;;
        'create/volume' | 'create/volumes' | 'create/vol') at='create volume' ;;
        'create/storageclass' | 'create/storageclasses' | 'create/sc') at='create storageclass' ;;
        'create/snapshot' | 'create/snapshots' | 'create/volumesnapshots' | 'create/volumesnapshot' | 'create/vs') at='create snapshot' ;;
        'create/backup' | 'create/backups') at='create backup' ;;
        'get/volumes' | 'get/volume' | 'get/vol') at='get volumes' ;;
        'get/nodes' | 'get/node' | 'get/no') at='get nodes' ;;
        'get/attachments' | 'get/attachment' | 'get/att') at='get attachments' ;;
        'get/snapshots' | 'get/snapshot' | 'get/volumesnapshots' | 'get/volumesnapshot' | 'get/vs') at='get snapshots' ;;
        'get/grants' | 'get/grant' | 'get/referencegrants' | 'get/referencegrant' | 'get/refgrant') at='get grants' ;;
        'get/populators' | 'get/populator' | 'get/volumepopulators' | 'get/volumepopulator') at='get populators' ;;
        'describe/volume' | 'describe/volumes' | 'describe/vol') at='describe volume' ;;
        'delete/volume' | 'delete/volumes' | 'delete/vol') at='delete volume' ;;
        'detach/volume' | 'detach/volumes' | 'detach/vol') at='detach volume' ;;
        'adopt/volume' | 'adopt/volumes' | 'adopt/vol') at='adopt volume' ;;
        'check/cluster') at='check cluster' ;;
        'check/node' | 'check/nodes' | 'check/no') at='check node' ;;
        'check/grant' | 'check/grants' | 'check/referencegrants' | 'check/referencegrant' | 'check/refgrant') at='check grant' ;;
        'restore/snapshot' | 'restore/snapshots' | 'restore/volumesnapshots' | 'restore/volumesnapshot' | 'restore/vs') at='restore snapshot' ;;
        'grant/snapshot' | 'grant/snapshots' | 'grant/volumesnapshots' | 'grant/volumesnapshot' | 'grant/vs') at='grant snapshot' ;;
        'revoke/grant' | 'revoke/grants' | 'revoke/referencegrants' | 'revoke/referencegrant' | 'revoke/refgrant') at='revoke grant' ;;
        'register/populator' | 'register/populators' | 'register/volumepopulators' | 'register/volumepopulator') at='register populator' ;;
        'unregister/populator' | 'unregister/populators' | 'unregister/volumepopulators' | 'unregister/volumepopulator') at='unregister populator' ;;
        'print/sudoers') at='print sudoers' ;;
        *) return 1 ;;
    esac
}

# Whether the word after the option $1 is its value.
_stowage_takes_value() {
    case $1 in
        --kubeconfig | --context | -n | --namespace | --as | --request-timeout | -f | --filename | --dry-run | -o | --output | --timeout | --node | --type | --size | --directory | --device | --overwrite | --vg | --thin-pool | --storage-class | --mode | -l | --labels | --on-delete | --attach-policy | --transport | --local-node | --ssh-config | --salt-url | --salt-eauth | --salt-user | --salt-secret-file | --salt-ca-file | --config | --reclaim-policy | --fs-type | --mkfs-options | --mount-options | --pvc | --class | --snapshot | --to | --authorization-secret | --selector | --sort-by | --file | --lv | --trust-host-key | --from | --for | --access-mode | --group | --kind | --image | --command | --arg | --env | --secret-env | --secret | --service-account | --request | --limit | --mount-path | --device-path | --api-version | --resource | --user | --disk | --kubelet-root-dir | --components | --values | --feature-gates | --controllers | --replicas | --ssh-secret | --salt-secret | --salt-audience | --salt-ca-configmap | --requests | --limits | --log-level | --node-selector | --workers | --retry-interval-start | --retry-interval-max | --max-wait-for-unmount | --attachment-poll-interval | --snapshot-controller | --leader-election-namespace | --leader-election-lease-duration | --leader-election-renew-deadline | --leader-election-retry-period | --http-endpoint | --metrics-path | --kube-api-qps | --kube-api-burst | --port | --kubeconfig-out) return 0 ;;
        *) return 1 ;;
    esac
}

# Where words lead.
_stowage_walk() {
    local word ended=''
    for word; do
        if [[ -n $option ]]; then
            option=''
        elif [[ -z $ended && $word == -- ]]; then
            ended=1
        elif [[ -z $ended && $word == -?* ]]; then
            if [[ $word != *=* ]] && _stowage_takes_value "$word"; then option=$word; fi
        elif [[ $count != 0 ]] || ! _stowage_command "$word"; then
            count=$((count + 1))
        fi
    done
    _stowage_ended=$ended
}

# What the value of $option can be.
_stowage_values() {
    case "$at $option" in
        *' ''--kubeconfig' | 'create -f' | 'create --filename' | 'create volume --ssh-config' | 'create volume --salt-secret-file' | 'create volume --salt-ca-file' | 'create volume --config' | 'get nodes --ssh-config' | 'get nodes --salt-secret-file' | 'get nodes --salt-ca-file' | 'get nodes --config' | 'delete -f' | 'delete --filename' | 'adopt volume --ssh-config' | 'adopt volume --salt-secret-file' | 'adopt volume --salt-ca-file' | 'adopt volume --config' | 'check node --ssh-config' | 'check node --salt-secret-file' | 'check node --salt-ca-file' | 'check node --config' | 'install --ssh-config' | 'install --salt-secret-file' | 'install --salt-ca-file' | 'install --config' | 'diff -f' | 'diff --filename' | 'watch --ssh-config' | 'watch --salt-secret-file' | 'watch --salt-ca-file' | 'watch --config' | 'sandbox --kubeconfig-out') place=files ;;
        *' ''--context' | *' ''-n' | *' ''--namespace' | 'create volume --node' | 'create volume --storage-class' | 'create volume --local-node' | 'create snapshot --pvc' | 'create snapshot --class' | 'get volumes --node' | 'get nodes --local-node' | 'get attachments --node' | 'detach volume --node' | 'adopt volume --node' | 'adopt volume --storage-class' | 'adopt volume --local-node' | 'check node --local-node' | 'check grant --from' | 'check grant --snapshot' | 'restore snapshot --to' | 'restore snapshot --storage-class' | 'restore snapshot --access-mode' | 'grant snapshot --to' | 'install --components' | 'install --local-node' | 'uninstall --components' | 'watch --local-node' | 'watch --leader-election-namespace') place=ask ;;
        'create --dry-run' | 'create storageclass --dry-run' | 'create snapshot --dry-run' | 'create backup --dry-run' | 'restore snapshot --dry-run' | 'grant snapshot --dry-run' | 'register populator --dry-run' | 'install --dry-run' | 'uninstall --dry-run') found=('none' 'client' 'server') ;;
        'create -o' | 'create --output' | 'create volume -o' | 'create volume --output' | 'create storageclass -o' | 'create storageclass --output' | 'create snapshot -o' | 'create snapshot --output' | 'create backup -o' | 'create backup --output' | 'delete -o' | 'delete --output' | 'delete volume -o' | 'delete volume --output' | 'detach volume -o' | 'detach volume --output' | 'adopt volume -o' | 'adopt volume --output' | 'restore snapshot -o' | 'restore snapshot --output' | 'grant snapshot -o' | 'grant snapshot --output' | 'revoke grant -o' | 'revoke grant --output' | 'register populator -o' | 'register populator --output' | 'unregister populator -o' | 'unregister populator --output') found=('json' 'yaml' 'name') ;;
        'create volume --type') found=('sparse' 'raw' 'lvm') ;;
        'create volume --mode' | 'adopt volume --mode' | 'restore snapshot --mode') found=('Filesystem' 'Block') ;;
        'create volume --on-delete' | 'adopt volume --on-delete') found=('Delete' 'Retain' 'Wipe') ;;
        'create volume --attach-policy' | 'create storageclass --attach-policy') found=('Always' 'OnDemand') ;;
        'create volume --transport' | 'get nodes --transport' | 'adopt volume --transport' | 'check node --transport' | 'install --transport' | 'watch --transport') found=('ssh' 'salt' 'local') ;;
        'create volume --dry-run' | 'adopt volume --dry-run') found=('none' 'client' 'server' 'plan') ;;
        'create storageclass --type') found=('sparse' 'lvm') ;;
        'create storageclass --reclaim-policy') found=('Delete' 'Retain') ;;
        'create storageclass --on-delete') found=('Delete' 'Wipe') ;;
        'create storageclass --fs-type') found=('ext4' 'xfs') ;;
        'get volumes --sort-by') found=('name' 'node' 'age' 'capacity' 'phase') ;;
        'get volumes -o' | 'get volumes --output' | 'get nodes -o' | 'get nodes --output' | 'get attachments -o' | 'get attachments --output' | 'get snapshots -o' | 'get snapshots --output' | 'get grants -o' | 'get grants --output' | 'get populators -o' | 'get populators --output') found=('json' 'yaml' 'name' 'wide') ;;
        'get nodes --sort-by') found=('name' 'free' 'volumes') ;;
        'get attachments --sort-by') found=('volume' 'node' 'state' 'age') ;;
        'get snapshots --sort-by') found=('name' 'age' 'size' 'phase') ;;
        'check cluster -o' | 'check cluster --output' | 'check node -o' | 'check node --output' | 'check grant -o' | 'check grant --output' | 'why -o' | 'why --output' | 'version -o' | 'version --output') found=('json' 'yaml') ;;
        'check grant --for' | 'grant snapshot --for') found=('claims' 'links') ;;
        'revoke grant --dry-run' | 'unregister populator --dry-run') found=('none' 'server') ;;
        'register populator --node') found=('Image' 'Archive' 'Backup') ;;
        'install --log-level') found=('info' 'debug') ;;
        'watch --snapshot-controller') found=('auto' 'builtin' 'external') ;;
        *) place=nothing ;;
    esac
}

# What can follow, where it is no option.
_stowage_arguments() {
    case "$at $count" in
        ' 0') found=(
            'create'
            'get'
            'describe'
            'delete'
            'detach'
            'adopt'
            'check'
            'restore'
            'grant'
            'revoke'
            'register'
            'unregister'
            'print'
            'install'
            'uninstall'
            'diff'
            'why'
            'version'
            'watch'
            'sandbox'
            'completion'
            'help') ;;
        'create 0') found=(
            'volume'
            'storageclass'
            'snapshot'
            'backup') ;;
        'create snapshot 0' | 'get volumes'' '* | 'get nodes'' '* | 'get attachments'' '* | 'get snapshots'' '* | 'get grants'' '* | 'get populators'' '* | 'describe volume'' '* | 'delete volume'' '* | 'detach volume 0' | 'check node'' '* | 'restore snapshot 0' | 'grant snapshot 0' | 'revoke grant 0' | 'unregister populator 0' | 'why'' '* | 'help'' '*) place=ask ;;
        'get 0') found=(
            'volumes'
            'nodes'
            'attachments'
            'snapshots'
            'grants'
            'populators') ;;
        'describe 0' | 'delete 0' | 'detach 0' | 'adopt 0') found=(
            'volume') ;;
        'check 0') found=(
            'cluster'
            'node'
            'grant') ;;
        'restore 0' | 'grant 0') found=(
            'snapshot') ;;
        'revoke 0') found=(
            'grant') ;;
        'register 0' | 'unregister 0') found=(
            'populator') ;;
        'print 0') found=(
            'sudoers') ;;
        'completion 0') found=('bash' 'zsh' 'fish') ;;
        *) place=nothing ;;
    esac
}

# The options of a command.
_stowage_options() {
    found=(
        '--version'
        '--kubeconfig'
        '--context'
        '--namespace'
        '--as'
        '--request-timeout'
        '--no-color'
        '--verbose'
        '--help')
    case $at in
        'create') found+=(
            '--filename'
            '--yes'
            '--dry-run'
            '--output'
            '--wait'
            '--timeout') ;;
        'create volume') found+=(
            '--node'
            '--type'
            '--size'
            '--directory'
            '--require-mount'
            '--device'
            '--overwrite'
            '--vg'
            '--thin-pool'
            '--storage-class'
            '--mode'
            '--labels'
            '--on-delete'
            '--attach-policy'
            '--yes'
            '--transport'
            '--local-node'
            '--ssh-config'
            '--ssh-guard'
            '--salt-url'
            '--salt-eauth'
            '--salt-user'
            '--salt-secret-file'
            '--salt-ca-file'
            '--config'
            '--dry-run'
            '--output'
            '--wait'
            '--timeout') ;;
        'create storageclass') found+=(
            '--static'
            '--dynamic'
            '--type'
            '--directory'
            '--require-mount'
            '--vg'
            '--thin-pool'
            '--overwrite-free-extents'
            '--reclaim-policy'
            '--on-delete'
            '--attach-policy'
            '--fs-type'
            '--mkfs-options'
            '--mount-options'
            '--default'
            '--dry-run'
            '--output') ;;
        'create snapshot') found+=(
            '--pvc'
            '--class'
            '--dry-run'
            '--output'
            '--wait'
            '--timeout') ;;
        'create backup') found+=(
            '--pvc'
            '--snapshot'
            '--to'
            '--authorization-secret'
            '--dry-run'
            '--output'
            '--wait'
            '--timeout') ;;
        'get' | 'describe' | 'describe volume' | 'detach' | 'adopt' | 'check' | 'restore' | 'grant' | 'revoke' | 'register' | 'unregister' | 'print' | 'completion' | 'help') found+=() ;;
        'get volumes' | 'get attachments') found+=(
            '--node'
            '--selector'
            '--sort-by'
            '--watch'
            '--no-headers'
            '--output') ;;
        'get nodes') found+=(
            '--selector'
            '--sort-by'
            '--timeout'
            '--watch'
            '--no-headers'
            '--output'
            '--transport'
            '--local-node'
            '--ssh-config'
            '--ssh-guard'
            '--salt-url'
            '--salt-eauth'
            '--salt-user'
            '--salt-secret-file'
            '--salt-ca-file'
            '--config') ;;
        'get snapshots') found+=(
            '--all-namespaces'
            '--selector'
            '--sort-by'
            '--watch'
            '--no-headers'
            '--output') ;;
        'get grants') found+=(
            '--all-namespaces'
            '--selector'
            '--watch'
            '--no-headers'
            '--output') ;;
        'get populators') found+=(
            '--watch'
            '--no-headers'
            '--output') ;;
        'delete') found+=(
            '--filename'
            '--wait'
            '--timeout'
            '--output'
            '--ignore-not-found'
            '--yes') ;;
        'delete volume') found+=(
            '--forget-node'
            '--wait'
            '--timeout'
            '--output'
            '--ignore-not-found'
            '--yes') ;;
        'detach volume') found+=(
            '--node'
            '--force'
            '--yes'
            '--timeout'
            '--output') ;;
        'adopt volume') found+=(
            '--node'
            '--device'
            '--directory'
            '--file'
            '--vg'
            '--lv'
            '--storage-class'
            '--mode'
            '--labels'
            '--on-delete'
            '--yes'
            '--transport'
            '--local-node'
            '--ssh-config'
            '--ssh-guard'
            '--salt-url'
            '--salt-eauth'
            '--salt-user'
            '--salt-secret-file'
            '--salt-ca-file'
            '--config'
            '--dry-run'
            '--output'
            '--wait'
            '--timeout') ;;
        'check cluster' | 'why') found+=(
            '--output') ;;
        'check node') found+=(
            '--output'
            '--transport'
            '--local-node'
            '--ssh-config'
            '--ssh-guard'
            '--salt-url'
            '--salt-eauth'
            '--salt-user'
            '--salt-secret-file'
            '--salt-ca-file'
            '--config'
            '--trust-host-key') ;;
        'check grant') found+=(
            '--from'
            '--snapshot'
            '--for'
            '--output') ;;
        'restore snapshot') found+=(
            '--to'
            '--size'
            '--storage-class'
            '--access-mode'
            '--mode'
            '--dry-run'
            '--output'
            '--wait'
            '--timeout') ;;
        'grant snapshot') found+=(
            '--to'
            '--for'
            '--dry-run'
            '--output') ;;
        'revoke grant' | 'unregister populator') found+=(
            '--dry-run'
            '--output') ;;
        'register populator') found+=(
            '--group'
            '--kind'
            '--image'
            '--node'
            '--command'
            '--arg'
            '--env'
            '--secret-env'
            '--secret'
            '--service-account'
            '--request'
            '--limit'
            '--mount-path'
            '--device-path'
            '--api-version'
            '--resource'
            '--cluster-scoped'
            '--dry-run'
            '--output') ;;
        'print sudoers') found+=(
            '--user'
            '--directory'
            '--vg'
            '--disk'
            '--shared'
            '--kubelet-root-dir') ;;
        'install') found+=(
            '--components'
            '--image'
            '--dry-run'
            '--take-over-metalk8s'
            '--values'
            '--reset-values'
            '--feature-gates'
            '--cross-namespace-snapshot'
            '--controllers'
            '--replicas'
            '--ssh-secret'
            '--salt-secret'
            '--salt-audience'
            '--salt-ca-configmap'
            '--requests'
            '--limits'
            '--log-level'
            '--node-selector'
            '--transport'
            '--local-node'
            '--ssh-config'
            '--ssh-guard'
            '--salt-url'
            '--salt-eauth'
            '--salt-user'
            '--salt-secret-file'
            '--salt-ca-file'
            '--config') ;;
        'uninstall') found+=(
            '--components'
            '--dry-run'
            '--yes') ;;
        'diff') found+=(
            '--filename') ;;
        'version') found+=(
            '--client'
            '--output') ;;
        'watch') found+=(
            '--transport'
            '--local-node'
            '--ssh-config'
            '--ssh-guard'
            '--salt-url'
            '--salt-eauth'
            '--salt-user'
            '--salt-secret-file'
            '--salt-ca-file'
            '--config'
            '--controllers'
            '--workers'
            '--retry-interval-start'
            '--retry-interval-max'
            '--max-wait-for-unmount'
            '--attachment-poll-interval'
            '--kubelet-root-dir'
            '--snapshot-controller'
            '--feature-gates'
            '--cross-namespace-snapshot'
            '--leader-election'
            '--leader-election-namespace'
            '--leader-election-lease-duration'
            '--leader-election-renew-deadline'
            '--leader-election-retry-period'
            '--http-endpoint'
            '--metrics-path'
            '--kube-api-qps'
            '--kube-api-burst') ;;
        'sandbox') found+=(
            '--port'
            '--kubeconfig-out'
            '--feature-gates') ;;
    esac
}

# Names of objects, by `stowage __complete`.
_stowage_ask() {
    local program line
    program=$(type -P stowage || type -P -- "${words[0]}") || return
    found=()
    while IFS= read -r line; do
        case $line in
            :*) if ((${line#:} & 2)); then compopt -o nospace 2>/dev/null; fi ;;
            *) found+=("${line%%$'\t'*}") ;;
        esac
    done < <("$program" __complete "${words[@]:1}" "$cur" 2>/dev/null)
}

# The words up to the cursor, to `words`, and what is there of the last one, to `cur`: readline takes words apart at = and :.
_stowage_split() {
    local rest=${COMP_LINE:0:COMP_POINT} piece trimmed i
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        trimmed=${rest#"${rest%%[![:space:]]*}"}
        piece=${COMP_WORDS[i]}
        if ((${#piece} > ${#trimmed})); then piece=$trimmed; fi
        if [[ $i == 0 || $trimmed != "$rest" || -z $piece ]]; then
            words+=("$piece")
        else
            words[${#words[@]} - 1]+=$piece
        fi
        rest=${trimmed#"$piece"}
    done
    cur=${words[${#words[@]} - 1]}
    unset 'words[${#words[@]} - 1]'
}

_stowage() {
    local words=() cur='' at='' option='' count=0 place=words found=() each start breaks cut _stowage_ended=''
    COMPREPLY=()
    _stowage_split
    _stowage_walk "${words[@]:1}"
    start=$cur
    if [[ -n $option ]]; then
        _stowage_values
    elif [[ -z $_stowage_ended && $cur == --*=* ]]; then
        option=${cur%%=*} start=${cur#*=}
        _stowage_values
    elif [[ -z $_stowage_ended && $cur == -* ]]; then
        _stowage_options
    else
        _stowage_arguments
    fi
    case $place in
        ask) _stowage_ask ;;
        files | folders)
            if [[ $place == folders ]]; then compopt -o dirnames 2>/dev/null; else compopt -o default 2>/dev/null; fi
            return
            ;;
    esac
    # Readline puts in only what comes after the last character of the word that takes words apart: =, : and @, where nobody changed that.
    # An @ it leaves in the word (bash's rl_special_prefixes).
    breaks=${COMP_WORDBREAKS//[!=:@,+.]/} cut=''
    if [[ -n $breaks ]]; then cut=${cur%"${cur##*["$breaks"]}"} cut=${cut%@}; fi
    for each in "${found[@]}"; do
        if [[ $each == "$start"* ]]; then
            each=${cur%"$start"}$each
            each=${each#"$cut"}
            if [[ $each == *[!a-zA-Z0-9._/,:@=+-]* ]]; then printf -v each %q "$each"; fi
            COMPREPLY+=("$each")
        fi
    done
}

complete -F _stowage stowage kubectl-stowage
