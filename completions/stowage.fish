# fish completion for stowage. `stowage completion fish` prints it; it is generated from the tree of commands.
# What is offered is data, whoever named it: nothing of it is expanded or run; fish quotes what it puts on the command line.

# The command that the word $argv[2] after the command $argv[1] leads to.
function __stowage_command
    switch "$argv[1]/$argv[2]"
        case '/create'
            echo 'create'
        case '/get'
            echo 'get'
        case '/describe'
            echo 'describe'
        case '/delete'
            echo 'delete'
        case '/detach'
            echo 'detach'
        case '/adopt'
            echo 'adopt'
        case '/check'
            echo 'check'
        case '/restore'
            echo 'restore'
        case '/grant'
            echo 'grant'
        case '/revoke'
            echo 'revoke'
        case '/register'
            echo 'register'
        case '/unregister'
            echo 'unregister'
        case '/print'
            echo 'print'
        case '/install'
            echo 'install'
        case '/uninstall'
            echo 'uninstall'
        case '/diff'
            echo 'diff'
        case '/why'
            echo 'why'
        case '/version'
            echo 'version'
        case '/watch'
            echo 'watch'
        case '/sandbox'
            echo 'sandbox'
        case '/completion'
            echo 'completion'
        case '/help'
            echo 'help'
        case 'create/volume' 'create/volumes' 'create/vol'
            echo 'create volume'
        case 'create/storageclass' 'create/storageclasses' 'create/sc'
            echo 'create storageclass'
        case 'create/snapshot' 'create/snapshots' 'create/volumesnapshots' 'create/volumesnapshot' 'create/vs'
            echo 'create snapshot'
        case 'create/backup' 'create/backups'
            echo 'create backup'
        case 'get/volumes' 'get/volume' 'get/vol'
            echo 'get volumes'
        case 'get/nodes' 'get/node' 'get/no'
            echo 'get nodes'
        case 'get/attachments' 'get/attachment' 'get/att'
            echo 'get attachments'
        case 'get/snapshots' 'get/snapshot' 'get/volumesnapshots' 'get/volumesnapshot' 'get/vs'
            echo 'get snapshots'
        case 'get/grants' 'get/grant' 'get/referencegrants' 'get/referencegrant' 'get/refgrant'
            echo 'get grants'
        case 'get/populators' 'get/populator' 'get/volumepopulators' 'get/volumepopulator'
            echo 'get populators'
        case 'describe/volume' 'describe/volumes' 'describe/vol'
            echo 'describe volume'
        case 'delete/volume' 'delete/volumes' 'delete/vol'
            echo 'delete volume'
        case 'detach/volume' 'detach/volumes' 'detach/vol'
            echo 'detach volume'
        case 'adopt/volume' 'adopt/volumes' 'adopt/vol'
            echo 'adopt volume'
        case 'check/cluster'
            echo 'check cluster'
        case 'check/node' 'check/nodes' 'check/no'
            echo 'check node'
        case 'check/grant' 'check/grants' 'check/referencegrants' 'check/referencegrant' 'check/refgrant'
            echo 'check grant'
        case 'restore/snapshot' 'restore/snapshots' 'restore/volumesnapshots' 'restore/volumesnapshot' 'restore/vs'
            echo 'restore snapshot'
        case 'grant/snapshot' 'grant/snapshots' 'grant/volumesnapshots' 'grant/volumesnapshot' 'grant/vs'
            echo 'grant snapshot'
        case 'revoke/grant' 'revoke/grants' 'revoke/referencegrants' 'revoke/referencegrant' 'revoke/refgrant'
            echo 'revoke grant'
        case 'register/populator' 'register/populators' 'register/volumepopulators' 'register/volumepopulator'
            echo 'register populator'
        case 'unregister/populator' 'unregister/populators' 'unregister/volumepopulators' 'unregister/volumepopulator'
            echo 'unregister populator'
        case 'print/sudoers'
            echo 'print sudoers'
        case '*'
            return 1
    end
end

# Whether the word after the option $argv[1] is its value.
function __stowage_takes_value
    contains -- $argv[1] --kubeconfig --context -n --namespace --as --request-timeout -f --filename --dry-run -o --output --timeout --node --type --size --directory --device --overwrite --vg --thin-pool --storage-class --mode -l --labels --on-delete --attach-policy --transport --local-node --ssh-config --salt-url --salt-eauth --salt-user --salt-secret-file --salt-ca-file --config --reclaim-policy --fs-type --mkfs-options --mount-options --pvc --class --snapshot --to --authorization-secret --selector --sort-by --file --lv --trust-host-key --from --for --access-mode --group --kind --image --command --arg --env --secret-env --secret --service-account --request --limit --mount-path --device-path --api-version --resource --user --disk --kubelet-root-dir --components --values --feature-gates --controllers --replicas --ssh-secret --salt-secret --salt-audience --salt-ca-configmap --requests --limits --log-level --node-selector --workers --retry-interval-start --retry-interval-max --max-wait-for-unmount --attachment-poll-interval --snapshot-controller --leader-election-namespace --leader-election-lease-duration --leader-election-renew-deadline --leader-election-retry-period --http-endpoint --metrics-path --kube-api-qps --kube-api-burst --port --kubeconfig-out
end

# What the value of the option $argv[2] of the command $argv[1] can be.
function __stowage_values
    switch "$argv[1] $argv[2]"
        case '* --kubeconfig' 'create -f' 'create --filename' 'create volume --ssh-config' 'create volume --salt-secret-file' 'create volume --salt-ca-file' 'create volume --config' 'get nodes --ssh-config' 'get nodes --salt-secret-file' 'get nodes --salt-ca-file' 'get nodes --config' 'delete -f' 'delete --filename' 'adopt volume --ssh-config' 'adopt volume --salt-secret-file' 'adopt volume --salt-ca-file' 'adopt volume --config' 'check node --ssh-config' 'check node --salt-secret-file' 'check node --salt-ca-file' 'check node --config' 'install --ssh-config' 'install --salt-secret-file' 'install --salt-ca-file' 'install --config' 'diff -f' 'diff --filename' 'watch --ssh-config' 'watch --salt-secret-file' 'watch --salt-ca-file' 'watch --config' 'sandbox --kubeconfig-out'
            echo :files
        case '* --context' '* -n' '* --namespace' 'create volume --node' 'create volume --storage-class' 'create volume --local-node' 'create snapshot --pvc' 'create snapshot --class' 'get volumes --node' 'get nodes --local-node' 'get attachments --node' 'detach volume --node' 'adopt volume --node' 'adopt volume --storage-class' 'adopt volume --local-node' 'check node --local-node' 'check grant --from' 'check grant --snapshot' 'restore snapshot --to' 'restore snapshot --storage-class' 'restore snapshot --access-mode' 'grant snapshot --to' 'install --components' 'install --local-node' 'uninstall --components' 'watch --local-node' 'watch --leader-election-namespace'
            echo :ask
        case 'create --dry-run' 'create storageclass --dry-run' 'create snapshot --dry-run' 'create backup --dry-run' 'restore snapshot --dry-run' 'grant snapshot --dry-run' 'register populator --dry-run' 'install --dry-run' 'uninstall --dry-run'
            printf '%s\n' 'none' 'client' 'server'
        case 'create -o' 'create --output' 'create volume -o' 'create volume --output' 'create storageclass -o' 'create storageclass --output' 'create snapshot -o' 'create snapshot --output' 'create backup -o' 'create backup --output' 'delete -o' 'delete --output' 'delete volume -o' 'delete volume --output' 'detach volume -o' 'detach volume --output' 'adopt volume -o' 'adopt volume --output' 'restore snapshot -o' 'restore snapshot --output' 'grant snapshot -o' 'grant snapshot --output' 'revoke grant -o' 'revoke grant --output' 'register populator -o' 'register populator --output' 'unregister populator -o' 'unregister populator --output'
            printf '%s\n' 'json' 'yaml' 'name'
        case 'create volume --type'
            printf '%s\n' 'sparse' 'raw' 'lvm'
        case 'create volume --mode' 'adopt volume --mode' 'restore snapshot --mode'
            printf '%s\n' 'Filesystem' 'Block'
        case 'create volume --on-delete' 'adopt volume --on-delete'
            printf '%s\n' 'Delete' 'Retain' 'Wipe'
        case 'create volume --attach-policy' 'create storageclass --attach-policy'
            printf '%s\n' 'Always' 'OnDemand'
        case 'create volume --transport' 'get nodes --transport' 'adopt volume --transport' 'check node --transport' 'install --transport' 'watch --transport'
            printf '%s\n' 'ssh' 'salt' 'local'
        case 'create volume --dry-run' 'adopt volume --dry-run'
            printf '%s\n' 'none' 'client' 'server' 'plan'
        case 'create storageclass --type'
            printf '%s\n' 'sparse' 'lvm'
        case 'create storageclass --reclaim-policy'
            printf '%s\n' 'Delete' 'Retain'
        case 'create storageclass --on-delete'
            printf '%s\n' 'Delete' 'Wipe'
        case 'create storageclass --fs-type'
            printf '%s\n' 'ext4' 'xfs'
        case 'get volumes --sort-by'
            printf '%s\n' 'name' 'node' 'age' 'capacity' 'phase'
        case 'get volumes -o' 'get volumes --output' 'get nodes -o' 'get nodes --output' 'get attachments -o' 'get attachments --output' 'get snapshots -o' 'get snapshots --output' 'get grants -o' 'get grants --output' 'get populators -o' 'get populators --output'
            printf '%s\n' 'json' 'yaml' 'name' 'wide'
        case 'get nodes --sort-by'
            printf '%s\n' 'name' 'free' 'volumes'
        case 'get attachments --sort-by'
            printf '%s\n' 'volume' 'node' 'state' 'age'
        case 'get snapshots --sort-by'
            printf '%s\n' 'name' 'age' 'size' 'phase'
        case 'check cluster -o' 'check cluster --output' 'check node -o' 'check node --output' 'check grant -o' 'check grant --output' 'why -o' 'why --output' 'version -o' 'version --output'
            printf '%s\n' 'json' 'yaml'
        case 'check grant --for' 'grant snapshot --for'
            printf '%s\n' 'claims' 'links'
        case 'revoke grant --dry-run' 'unregister populator --dry-run'
            printf '%s\n' 'none' 'server'
        case 'register populator --node'
            printf '%s\n' 'Image' 'Archive' 'Backup'
        case 'install --log-level'
            printf '%s\n' 'info' 'debug'
        case 'watch --snapshot-controller'
            printf '%s\n' 'auto' 'builtin' 'external'
    end
end

# What can follow the command $argv[1] after $argv[2] arguments, where it is no option.
function __stowage_arguments
    switch "$argv[1] $argv[2]"
        case ' 0'
            printf '%s\t%s\n' 'create' 'create objects' \
                'get' 'show objects' \
                'describe' 'show all about objects' \
                'delete' 'delete objects' \
                'detach' 'have devices removed from nodes' \
                'adopt' 'take storage with its data into use' \
                'check' 'look for what is amiss' \
                'restore' 'bring data back' \
                'grant' 'let others use what is in a namespace' \
                'revoke' 'take back what was granted' \
                'register' 'say how volumes are filled' \
                'unregister' 'fill no more volumes so' \
                'print' 'print what nodes need' \
                'install' 'install or upgrade what a cluster needs: definitions of kinds, rights, and the daemon as a Deployment, in the namespace stowage unless -n says another. What is asked of the daemon is kept by later runs.' \
                'uninstall' 'remove what install made. Volumes on nodes, PersistentVolumes and namespaces with other objects stay, and kinds that still have objects are not removed.' \
                'diff' 'show what manifests would change in the cluster; exits with 1 if they would' \
                'why' 'say what holds a Volume, a claim, a snapshot, a node, or the volumes of a pod up, since when, when it is tried next, and what fixes it' \
                'version' 'show the versions of this program and of the server, and how their CRDs differ' \
                'watch' 'run the daemon: make, keep and remove the storage of Volumes' \
                'sandbox' 'run an API server in memory, to try things out' \
                'completion' 'print what makes a shell complete commands, options and names of objects (see stowage help completion)' \
                'help' 'show help of a command'
        case 'create 0'
            printf '%s\t%s\n' 'volume' 'create a Volume: storage on a node that becomes a PersistentVolume. What is missing is asked for on a terminal.' \
                'storageclass' 'create a storage class: the file system of volumes, and how it is mounted. What is missing is asked for on a terminal.' \
                'snapshot' 'take a snapshot of what a claim has' \
                'backup' 'pack what a claim or a snapshot has into an archive elsewhere'
        case 'create snapshot 0' 'get volumes *' 'get nodes *' 'get attachments *' 'get snapshots *' 'get grants *' 'get populators *' 'describe volume *' 'delete volume *' 'detach volume 0' 'check node *' 'restore snapshot 0' 'grant snapshot 0' 'revoke grant 0' 'unregister populator 0' 'why *' 'help *'
            echo :ask
        case 'get 0'
            printf '%s\t%s\n' 'volumes' 'show Volumes' \
                'nodes' 'show nodes: whether they are reached, their free space, their Volumes' \
                'attachments' 'show where the devices of Volumes are, and which pods need them there' \
                'snapshots' 'show VolumeSnapshots' \
                'grants' 'show which namespaces may use snapshots of a namespace, and which claims and links do' \
                'populators' 'show from which kinds volumes are filled, by what, and for which claims'
        case 'describe 0'
            printf '%s\t%s\n' 'volume' 'show all about Volumes: spec, status, PersistentVolume, claim, pods, events'
        case 'delete 0'
            printf '%s\t%s\n' 'volume' 'delete Volumes and their storage, unless they are in use'
        case 'detach 0'
            printf '%s\t%s\n' 'volume' 'wait until the daemon has detached a Volume from a node, or let go of it on a dead node'
        case 'adopt 0'
            printf '%s\t%s\n' 'volume' 'create a Volume from storage with data that was brought to a node: a disk, file or logical volume of a Volume that is gone or whose node is dead. What is missing is asked for on a terminal.'
        case 'check 0'
            printf '%s\t%s\n' 'cluster' 'look at the cluster: definitions of kinds, your permissions, the daemon, storage classes. Nothing is changed.' \
                'node' 'look at nodes: tools that are missing, and what no Volume owns there. Nothing is changed.' \
                'grant' 'say whether a namespace may use a snapshot, by which grant, or which grant nearly allows it'
        case 'restore 0'
            printf '%s\t%s\n' 'snapshot' 'create a claim that starts from a snapshot, of another namespace as well, if that grants it. What is missing is asked for on a terminal.'
        case 'grant 0'
            printf '%s\t%s\n' 'snapshot' 'let another namespace use a snapshot (by a ReferenceGrant, which revoke grant takes back). What is missing is asked for on a terminal.'
        case 'revoke 0'
            printf '%s\t%s\n' 'grant' 'take a grant back; volumes that were made under it stay'
        case 'register 0'
            printf '%s\t%s\n' 'populator' 'have volumes filled from objects of a kind: by a pod, where fields stand as {.spec.field}, or on the node. What is missing is asked for on a terminal.'
        case 'unregister 0'
            printf '%s\t%s\n' 'populator' 'fill no more volumes from a kind; refused while claims wait for it'
        case 'print 0'
            printf '%s\t%s\n' 'sudoers' 'print what the account on a node may run as root: lines for /etc/sudoers.d/stowage'
        case 'completion 0'
            printf '%s\n' 'bash' 'zsh' 'fish'
    end
end

# The options of the command $argv[1].
function __stowage_options
    printf '%s\t%s\n' '--version' 'show the version' \
                '--kubeconfig' 'kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)' \
                '--context' 'context of the kubeconfig' \
                '--namespace' 'namespace (default: that of the context)' \
                '--as' 'user to impersonate' \
                '--request-timeout' 'give up a request after this long, such as 30s' \
                '--no-color' 'no colours ($NO_COLOR does the same)' \
                '--verbose' 'say more, also where errors come from' \
                '--help' 'show help'
    switch $argv[1]
        case 'create'
            printf '%s\t%s\n' '--filename' 'manifests of Volumes and storage classes, a folder of them, or - for standard input' \
                '--yes' 'overwrite without asking' \
                '--dry-run' 'create nothing: check here, or let the server check' \
                '--output' 'what to print' \
                '--wait' 'wait until the Volumes can be used' \
                '--timeout' 'how long to wait at most'
        case 'create volume'
            printf '%s\t%s\n' '--node' 'node that holds the storage; several times, or as a,b or n{1..4}, for several' \
                '--type' 'kind of storage (default: by the flags given)' \
                '--size' 'size of a sparse file or a logical volume, such as 10Gi' \
                '--directory' 'folder of that file on the node' \
                '--require-mount' 'make it only where that folder is not on the root file system' \
                '--device' 'disk or partition of the node' \
                '--overwrite' 'what may be destroyed on the device or in the extents, such as ext4:UUID' \
                '--vg' 'volume group of the node that the logical volume is made in' \
                '--thin-pool' 'thin pool of that group to take it from' \
                '--storage-class' 'class of the PersistentVolume' \
                '--mode' 'what a pod gets' \
                '--labels' 'labels of the Volume and of its PersistentVolume' \
                '--on-delete' 'what becomes of the data (default: Delete for a file, Retain for a device or a logical volume)' \
                '--attach-policy' 'when its device is on the node (default: Always)' \
                '--yes' 'overwrite without asking' \
                '--transport' 'how nodes are reached, for --dry-run=plan and for what is asked for' \
                '--local-node' 'nodes that this machine is (with --transport local), for --dry-run=plan and for what is asked for' \
                '--ssh-config' 'configuration of ssh (default: ~/.ssh/config), for --dry-run=plan and for what is asked for' \
                '--ssh-guard' 'nodes have salt/ssh_guard.py as the forced command of ssh, for --dry-run=plan and for what is asked for' \
                '--salt-url' 'salt-api, such as https://salt:8000 (with --transport salt), for --dry-run=plan and for what is asked for' \
                '--salt-eauth' 'how salt-api checks the secret (default: sharedsecret), for --dry-run=plan and for what is asked for' \
                '--salt-user' 'account of salt-api (default: stowage), for --dry-run=plan and for what is asked for' \
                '--salt-secret-file' 'its password, shared secret or token, for --dry-run=plan and for what is asked for' \
                '--salt-ca-file' 'certificates that may have signed salt-api\'s (PEM), for --dry-run=plan and for what is asked for' \
                '--config' 'settings of nodes and transports; flags and $STOWAGE_… go before it, for --dry-run=plan and for what is asked for' \
                '--dry-run' 'create nothing: check here, or let the server check, or look at the node and print the commands that would run there' \
                '--output' 'what to print' \
                '--wait' 'wait until the Volume can be used' \
                '--timeout' 'how long to wait at most'
        case 'create storageclass'
            printf '%s\t%s\n' '--static' 'for Volumes that are made by hand' \
                '--dynamic' 'for claims, which make their own' \
                '--type' 'of a dynamic class: what its volumes are (default: by the flags given)' \
                '--directory' 'of a dynamic class: folder of sparse files on the nodes' \
                '--require-mount' 'of a dynamic class: make volumes only where that folder is not on the root file system' \
                '--vg' 'of a dynamic class: volume group of the nodes' \
                '--thin-pool' 'of a dynamic class: thin pool of that group to take volumes from' \
                '--overwrite-free-extents' 'of a dynamic class with --vg: consent to destroy what removed volumes left in free extents of that group' \
                '--reclaim-policy' 'of a dynamic class: what becomes of a volume whose claim is deleted (default: Delete)' \
                '--on-delete' 'of a dynamic class: whether the data of a deleted volume is overwritten (default: Delete)' \
                '--attach-policy' 'of a dynamic class: when the device of a volume is on its node (default: Always)' \
                '--fs-type' 'file system (default: ext4)' \
                '--mkfs-options' 'JSON list for mkfs, or one element of it each time' \
                '--mount-options' 'options that volumes are mounted with' \
                '--default' 'claims that name no class get this one' \
                '--dry-run' 'create nothing: check here, or let the server check' \
                '--output' 'what to print'
        case 'create snapshot'
            printf '%s\t%s\n' '--pvc' 'the claim, in the same namespace' \
                '--class' 'VolumeSnapshotClass (default: the default one)' \
                '--dry-run' 'create nothing: check here, or let the server check' \
                '--output' 'what to print' \
                '--wait' 'wait until it can be restored from' \
                '--timeout' 'how long to wait at most'
        case 'create backup'
            printf '%s\t%s\n' '--pvc' 'the claim, in the same namespace; a snapshot of it is taken' \
                '--snapshot' 'the VolumeSnapshot, in the same namespace' \
                '--to' 'where it is put: a URL, by PUT, or a path on the volume\'s node, in a folder of backups that its /etc/stowage/sources.conf lists' \
                '--authorization-secret' 'what is sent as the header Authorization: a key of a Secret of the same namespace' \
                '--dry-run' 'create nothing: check here, or let the server check' \
                '--output' 'what to print' \
                '--wait' 'wait until it is whole' \
                '--timeout' 'how long to wait at most'
        case 'get volumes'
            printf '%s\t%s\n' '--node' 'only those on these nodes; n{1..4} is four' \
                '--selector' 'only those with these labels, as for kubectl' \
                '--sort-by' 'the smallest first' \
                '--watch' 'then show each change, until interrupted' \
                '--no-headers' 'tables without headings' \
                '--output' 'what to print'
        case 'get nodes'
            printf '%s\t%s\n' '--selector' 'only those with these labels, as for kubectl' \
                '--sort-by' 'the smallest first' \
                '--timeout' 'how long to wait for each node' \
                '--watch' 'look again every 10 s and show what changed, until interrupted' \
                '--no-headers' 'tables without headings' \
                '--output' 'what to print' \
                '--transport' 'how nodes are reached' \
                '--local-node' 'nodes that this machine is (with --transport local)' \
                '--ssh-config' 'configuration of ssh (default: ~/.ssh/config)' \
                '--ssh-guard' 'nodes have salt/ssh_guard.py as the forced command of ssh' \
                '--salt-url' 'salt-api, such as https://salt:8000 (with --transport salt)' \
                '--salt-eauth' 'how salt-api checks the secret (default: sharedsecret)' \
                '--salt-user' 'account of salt-api (default: stowage)' \
                '--salt-secret-file' 'its password, shared secret or token' \
                '--salt-ca-file' 'certificates that may have signed salt-api\'s (PEM)' \
                '--config' 'settings of nodes and transports; flags and $STOWAGE_… go before it'
        case 'get attachments'
            printf '%s\t%s\n' '--node' 'only those on these nodes; n{1..4} is four' \
                '--selector' 'only those of Volumes with these labels, as for kubectl' \
                '--sort-by' 'the smallest first' \
                '--watch' 'then show each change, until interrupted' \
                '--no-headers' 'tables without headings' \
                '--output' 'what to print'
        case 'get snapshots'
            printf '%s\t%s\n' '--all-namespaces' 'those of all namespaces' \
                '--selector' 'only those with these labels, as for kubectl' \
                '--sort-by' 'the smallest first' \
                '--watch' 'then show each change, until interrupted' \
                '--no-headers' 'tables without headings' \
                '--output' 'what to print'
        case 'get grants'
            printf '%s\t%s\n' '--all-namespaces' 'those of all namespaces' \
                '--selector' 'only those with these labels, as for kubectl' \
                '--watch' 'then show each change, until interrupted' \
                '--no-headers' 'tables without headings' \
                '--output' 'what to print'
        case 'get populators'
            printf '%s\t%s\n' '--watch' 'then show each change, until interrupted' \
                '--no-headers' 'tables without headings' \
                '--output' 'what to print'
        case 'delete'
            printf '%s\t%s\n' '--filename' 'manifests of Volumes and storage classes, a folder of them, or - for standard input' \
                '--wait' 'wait until they are gone' \
                '--timeout' 'how long to wait at most' \
                '--output' 'what to print' \
                '--ignore-not-found' 'what does not exist is nothing to complain about' \
                '--yes' 'destroy data without asking; nothing asks where there is no terminal'
        case 'delete volume'
            printf '%s\t%s\n' '--forget-node' 'do not wait for its node, which is lost: what is there is removed if it comes back' \
                '--wait' 'wait until they are gone' \
                '--timeout' 'how long to wait at most' \
                '--output' 'what to print' \
                '--ignore-not-found' 'what does not exist is nothing to complain about' \
                '--yes' 'destroy data without asking; nothing asks where there is no terminal'
        case 'detach volume'
            printf '%s\t%s\n' '--node' 'the node' \
                '--force' 'do not wait for the node, which is known to be dead' \
                '--yes' 'the machine is off, though its Node is gone: do not ask' \
                '--timeout' 'how long to wait at most' \
                '--output' 'what to print'
        case 'adopt volume'
            printf '%s\t%s\n' '--node' 'node that has the storage now' \
                '--device' 'disk or partition of the node' \
                '--directory' 'directory of the file on the node' \
                '--file' 'name of the file in that directory: the UID of the earlier Volume' \
                '--vg' 'volume group of the node' \
                '--lv' 'logical volume of that group' \
                '--storage-class' 'class of the PersistentVolume' \
                '--mode' 'what a pod gets (default: as the storage was made)' \
                '--labels' 'labels of the Volume and of its PersistentVolume' \
                '--on-delete' 'what becomes of the data (default: Retain)' \
                '--yes' 'adopt without asking' \
                '--transport' 'how nodes are reached' \
                '--local-node' 'nodes that this machine is (with --transport local)' \
                '--ssh-config' 'configuration of ssh (default: ~/.ssh/config)' \
                '--ssh-guard' 'nodes have salt/ssh_guard.py as the forced command of ssh' \
                '--salt-url' 'salt-api, such as https://salt:8000 (with --transport salt)' \
                '--salt-eauth' 'how salt-api checks the secret (default: sharedsecret)' \
                '--salt-user' 'account of salt-api (default: stowage)' \
                '--salt-secret-file' 'its password, shared secret or token' \
                '--salt-ca-file' 'certificates that may have signed salt-api\'s (PEM)' \
                '--config' 'settings of nodes and transports; flags and $STOWAGE_… go before it' \
                '--dry-run' 'create nothing: check here, or let the server check, or look at the node and print the commands that would run there' \
                '--output' 'what to print' \
                '--wait' 'wait until the Volume can be used' \
                '--timeout' 'how long to wait at most'
        case 'check cluster' 'why'
            printf '%s\t%s\n' '--output' 'what to print'
        case 'check node'
            printf '%s\t%s\n' '--output' 'what to print' \
                '--transport' 'how nodes are reached' \
                '--local-node' 'nodes that this machine is (with --transport local)' \
                '--ssh-config' 'configuration of ssh (default: ~/.ssh/config)' \
                '--ssh-guard' 'nodes have salt/ssh_guard.py as the forced command of ssh' \
                '--salt-url' 'salt-api, such as https://salt:8000 (with --transport salt)' \
                '--salt-eauth' 'how salt-api checks the secret (default: sharedsecret)' \
                '--salt-user' 'account of salt-api (default: stowage)' \
                '--salt-secret-file' 'its password, shared secret or token' \
                '--salt-ca-file' 'certificates that may have signed salt-api\'s (PEM)' \
                '--config' 'settings of nodes and transports; flags and $STOWAGE_… go before it' \
                '--trust-host-key' 'add the host key of a node to the known hosts, if it has this fingerprint (SHA256:…)'
        case 'check grant'
            printf '%s\t%s\n' '--from' 'the namespace that is to use it' \
                '--snapshot' 'the snapshot, as [NAMESPACE/]NAME' \
                '--for' 'what is to use it there (default: either)' \
                '--output' 'what to print'
        case 'restore snapshot'
            printf '%s\t%s\n' '--to' 'the claim to create, as [NAMESPACE/]NAME' \
                '--size' 'size of the claim, such as 10Gi (default: that of the snapshot)' \
                '--storage-class' 'class of the claim (default: that of the claim that the snapshot is of, if you may read it)' \
                '--access-mode' 'of ReadWriteOnce, ReadWriteOncePod, ReadOnlyMany (default: ReadWriteOnce)' \
                '--mode' 'what a pod gets (default: as the snapshot has it)' \
                '--dry-run' 'create nothing: check here, or let the server check' \
                '--output' 'what to print' \
                '--wait' 'wait until the claim is bound' \
                '--timeout' 'how long to wait at most'
        case 'grant snapshot'
            printf '%s\t%s\n' '--to' 'the namespace that may use it' \
                '--for' 'what may use it there (default: both)' \
                '--dry-run' 'create nothing: check here, or let the server check' \
                '--output' 'what to print'
        case 'revoke grant'
            printf '%s\t%s\n' '--dry-run' 'revoke nothing: let the server check' \
                '--output' 'what to print'
        case 'register populator'
            printf '%s\t%s\n' '--group' 'API group of the kind, without a version' \
                '--kind' 'the kind, such as Hello' \
                '--image' 'image of the container that fills a volume' \
                '--node' 'fill volumes on their node, without a pod, from its kind' \
                '--command' 'its entry point, a word each time; no fields' \
                '--arg' 'its arguments, one each time, such as --arg=--file={.spec.fileName}' \
                '--env' 'its environment' \
                '--secret-env' 'the same from a Secret of the daemon\'s namespace' \
                '--secret' 'Secret of the daemon\'s namespace as a folder of files' \
                '--service-account' 'of the daemon\'s namespace (default: the pod has no token)' \
                '--request' 'what it is promised, such as memory=64Mi' \
                '--limit' 'what it gets at most' \
                '--mount-path' 'where a file system that it fills is' \
                '--device-path' 'where a Block volume that it fills is' \
                '--api-version' 'version of the kind (default: as the API server prefers)' \
                '--resource' 'as in paths of requests (default: as the API server says)' \
                '--cluster-scoped' 'objects of the kind are in no namespace' \
                '--dry-run' 'create nothing: check here, or let the server check' \
                '--output' 'what to print'
        case 'unregister populator'
            printf '%s\t%s\n' '--dry-run' 'remove nothing: let the server check' \
                '--output' 'what to print'
        case 'print sudoers'
            printf '%s\t%s\n' '--user' 'account that ssh logs in as (default: stowage)' \
                '--directory' 'folders of Volumes\' files (default: /var/lib/metalk8s/storage/sparse)' \
                '--vg' 'volume groups; without one there are no lines for LVM' \
                '--disk' 'kernel names of disks, such as sdb; without one there are no lines for raw devices' \
                '--shared' 'with the lines for directories that several nodes share' \
                '--kubelet-root-dir' 'root folder of the kubelet'
        case 'install'
            printf '%s\t%s\n' '--components' 'parts to install: crds, rbac, deployment (default: these), and standard kinds where they are absent: snapshot-crds, referencegrant-crd, populator-crds' \
                '--image' 'image of the daemon (default: stowage:<version>, as built and loaded by you)' \
                '--dry-run' 'change nothing: print the manifests, or let the server check' \
                '--take-over-metalk8s' 'stop MetalK8s\'s storage operator and adopt its Volumes, each only where its device is recognised on its node; no byte of a device is written' \
                '--values' 'YAML of what is asked of the daemon, by the names of these flags' \
                '--reset-values' 'forget what earlier runs asked of the daemon' \
                '--feature-gates' 'CrossNamespaceVolumeDataSource (default: false): whether claims may start from what is in other namespaces' \
                '--cross-namespace-snapshot' 'whether claims may start from VolumeSnapshotLinks' \
                '--controllers' 'controllers that the daemon runs, as for watch' \
                '--replicas' 'pods of the daemon, of which one leads' \
                '--ssh-secret' 'Secret with what ssh needs (default: stowage-ssh)' \
                '--salt-secret' 'Secret whose key secret salt-api takes' \
                '--salt-audience' 'log in to salt-api by a token of the ServiceAccount with that audience' \
                '--salt-ca-configmap' 'ConfigMap whose ca.crt may have signed salt-api\'s certificate' \
                '--requests' 'what the pod asks of its node' \
                '--limits' 'what the pod gets at most' \
                '--log-level' 'how much the daemon logs' \
                '--node-selector' 'labels of nodes that its pods run on' \
                '--transport' 'how nodes are reached by the daemon; with --take-over-metalk8s, by this command' \
                '--local-node' 'nodes that this machine is (with --transport local) (with --take-over-metalk8s)' \
                '--ssh-config' 'configuration of ssh (default: ~/.ssh/config) (with --take-over-metalk8s)' \
                '--ssh-guard' 'nodes have salt/ssh_guard.py as the forced command of ssh by the daemon; with --take-over-metalk8s, by this command' \
                '--salt-url' 'salt-api, such as https://salt:8000 (with --transport salt) by the daemon; with --take-over-metalk8s, by this command' \
                '--salt-eauth' 'how salt-api checks the secret (default: sharedsecret) by the daemon; with --take-over-metalk8s, by this command' \
                '--salt-user' 'account of salt-api (default: stowage) by the daemon; with --take-over-metalk8s, by this command' \
                '--salt-secret-file' 'its password, shared secret or token (with --take-over-metalk8s)' \
                '--salt-ca-file' 'certificates that may have signed salt-api\'s (PEM) (with --take-over-metalk8s)' \
                '--config' 'settings of nodes and transports; flags and $STOWAGE_… go before it (with --take-over-metalk8s)'
        case 'uninstall'
            printf '%s\t%s\n' '--components' 'parts to remove: crds, rbac, deployment, snapshot-crds, referencegrant-crd, populator-crds (default: all)' \
                '--dry-run' 'remove nothing: say what would be removed, or let the server check' \
                '--yes' 'remove without asking'
        case 'diff'
            printf '%s\t%s\n' '--filename' 'manifests of Volumes and storage classes, a folder of them, or - for standard input'
        case 'version'
            printf '%s\t%s\n' '--client' 'of this program only: no server is asked' \
                '--output' 'what to print'
        case 'watch'
            printf '%s\t%s\n' '--transport' 'how nodes are reached' \
                '--local-node' 'nodes that this machine is (with --transport local)' \
                '--ssh-config' 'configuration of ssh (default: ~/.ssh/config)' \
                '--ssh-guard' 'nodes have salt/ssh_guard.py as the forced command of ssh' \
                '--salt-url' 'salt-api, such as https://salt:8000 (with --transport salt)' \
                '--salt-eauth' 'how salt-api checks the secret (default: sharedsecret)' \
                '--salt-user' 'account of salt-api (default: stowage)' \
                '--salt-secret-file' 'its password, shared secret or token' \
                '--salt-ca-file' 'certificates that may have signed salt-api\'s (PEM)' \
                '--config' 'settings of nodes and transports; flags and $STOWAGE_… go before it' \
                '--controllers' 'controllers to run (volume, leftover, attachment, claim, snapshot, backup, data-source-validator, populator): * is all, -NAME all but that one: \'*,-leftover\'' \
                '--workers' 'Volumes of one node to work on at once' \
                '--retry-interval-start' 'first delay before trying again' \
                '--retry-interval-max' 'longest delay' \
                '--max-wait-for-unmount' 'how long a detach waits for a node that is NotReady' \
                '--attachment-poll-interval' 'look at nodes that often, whether devices are still where they were; 0 is never' \
                '--kubelet-root-dir' 'where the kubelets of the nodes have their folders' \
                '--snapshot-controller' 'who binds VolumeSnapshots: this daemon, the standard snapshot-controller beside it, or whoever is found' \
                '--feature-gates' 'CrossNamespaceVolumeDataSource (default: false): whether claims may start from what is in other namespaces, under a grant' \
                '--cross-namespace-snapshot' 'whether claims may start from VolumeSnapshotLinks; else another populator fills those' \
                '--leader-election' 'work only while no other daemon does (by a Lease)' \
                '--leader-election-namespace' 'where the Lease is (default: that of -n, or of the context)' \
                '--leader-election-lease-duration' 'others take over after this long' \
                '--leader-election-renew-deadline' 'a leader stops after this long' \
                '--leader-election-retry-period' 'between two tries' \
                '--http-endpoint' 'serve /healthz and /readyz there, such as :8080 (default: nowhere)' \
                '--metrics-path' 'where --http-endpoint serves metrics' \
                '--kube-api-qps' 'requests a second to the API server (default: no limit)' \
                '--kube-api-burst' 'requests at once after a rest (default: as --kube-api-qps)'
        case 'sandbox'
            printf '%s\t%s\n' '--port' 'port on 127.0.0.1; 0: any free one' \
                '--kubeconfig-out' 'where to write its kubeconfig (default: standard output)' \
                '--feature-gates' 'gates of kube-apiserver to turn on or off, whose defaults are Kubernetes\': CrossNamespaceVolumeDataSource'
    end
end

# Names of objects, by `stowage __complete`.
function __stowage_ask
    command stowage __complete $argv 2>/dev/null | string match --invert --regex '^:'
end

# Words for the token at the cursor; of --option=value with what stands before the value.
function __stowage_complete
    set -l words (commandline -opc)[2..-1]
    set -l current (commandline -ct)
    set -l at ''
    set -l option ''
    set -l ended ''
    set -l count 0
    set -l next
    for word in $words
        if test -n "$option"
            set option ''
        else if test -z "$ended" -a "$word" = --
            set ended 1
        else if test -z "$ended"; and string match --quiet --regex '^-.' -- $word
            if not string match --quiet '*=*' -- $word; and __stowage_takes_value $word
                set option $word
            end
        else if test $count = 0; and set next (__stowage_command "$at" $word)
            set at $next
        else
            set count (math $count + 1)
        end
    end
    set -l before ''
    set -l found
    if test -n "$option"
        set found (__stowage_values "$at" $option)
    else if test -z "$ended"; and string match --quiet --regex '^--[^=]+=' -- $current
        set before (string replace --regex '=.*' '=' -- $current)
        set found (__stowage_values "$at" (string trim --right --chars = -- $before))
    else if test -z "$ended"; and string match --quiet --regex '^-' -- $current
        set found (__stowage_options "$at")
    else
        set found (__stowage_arguments "$at" $count)
    end
    switch "$found"
        case :ask
            set found (__stowage_ask $words $current)
        case :files
            __fish_complete_path (string replace -- "$before" '' $current)
            return
        case :folders
            __fish_complete_directories (string replace -- "$before" '' $current)
            return
    end
    for each in $found
        printf '%s\n' "$before$each"
    end
end

complete --command stowage --command kubectl-stowage --no-files --arguments '(__stowage_complete)'
