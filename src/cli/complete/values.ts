import type { Argument, Option } from 'commander';
import { CAPABILITIES } from '../../api/populator.ts';
import { COMPONENTS } from '../lib/components.ts';

/** Names of objects that a cluster has, or of contexts that a kubeconfig has. */
export type Live =
  | 'volumes'
  | 'nodes'
  | 'classes'
  | 'static-classes'
  | 'dynamic-classes'
  | 'snapshot-classes'
  | 'snapshots'
  | 'claims'
  | 'pods'
  | 'grants'
  | 'populators'
  | 'namespaces'
  | 'contexts';

/** Values of an option or an argument. */
export type Values = (
  | { choices: readonly string[] }
  | {
      live: Live;
      /** Accepts NAMESPACE/NAME, too (namespaced kinds). */
      anywhere?: true;
      /** Completes a namespace that a name follows, as NAMESPACE/. */
      before?: true;
    }
  | { files: true }
) & {
  /** Accepts several values, separated by commas. */
  list?: true;
};

const FILE: Values = { files: true };
const NODES: Values = { live: 'nodes', list: true };
const COMPONENT_LIST: Values = { choices: COMPONENTS, list: true };

/** Values of options, by long name; preceded by the command if they differ there. */
const OPTIONS: Readonly<Record<string, Values>> = {
  '--kubeconfig': FILE,
  '--filename': FILE,
  '--file': FILE,
  '--config': FILE,
  '--ssh-config': FILE,
  '--salt-secret-file': FILE,
  '--salt-ca-file': FILE,
  '--kubeconfig-out': FILE,
  '--context': { live: 'contexts' },
  '--namespace': { live: 'namespaces' },
  '--leader-election-namespace': { live: 'namespaces' },
  '--node': NODES,
  '--local-node': NODES,
  'detach volume --node': { live: 'nodes' },
  'create volume --storage-class': { live: 'static-classes' },
  'adopt volume --storage-class': { live: 'static-classes' },
  'adopt volume --node': { live: 'nodes' },
  'restore snapshot --storage-class': { live: 'dynamic-classes' },
  'create snapshot --class': { live: 'snapshot-classes' },
  'create snapshot --pvc': { live: 'claims' },
  'restore snapshot --to': { live: 'namespaces', before: true },
  'restore snapshot --access-mode': {
    choices: ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany'],
    list: true,
  },
  'grant snapshot --to': { live: 'namespaces' },
  'check grant --from': { live: 'namespaces' },
  'check grant --snapshot': { live: 'snapshots', anywhere: true },
  'register populator --capability': { choices: CAPABILITIES },
  'install --components': COMPONENT_LIST,
  'uninstall --components': COMPONENT_LIST,
};

const VOLUMES: Values = { live: 'volumes' };
const SNAPSHOT: Values = { live: 'snapshots', anywhere: true };

/** Values of arguments, by command. All arguments of a command share them. */
const ARGUMENTS: Readonly<Record<string, Values>> = {
  'get volumes': VOLUMES,
  'get attachments': VOLUMES,
  'top volumes': VOLUMES,
  'top nodes': { live: 'nodes' },
  'describe volume': VOLUMES,
  'describe pvc': { live: 'claims', anywhere: true },
  'describe snapshot': SNAPSHOT,
  'describe node': { live: 'nodes' },
  'describe pod': { live: 'pods', anywhere: true },
  'describe storageclass': { live: 'classes' },
  'describe snapshotclass': { live: 'snapshot-classes' },
  'delete volume': VOLUMES,
  'detach volume': VOLUMES,
  'resize volume': VOLUMES,
  'retry volume': VOLUMES,
  'pause volume': VOLUMES,
  'pause node': { live: 'nodes' },
  'resume volume': VOLUMES,
  'resume node': { live: 'nodes' },
  'get storageclasses': { live: 'classes' },
  'delete storageclass': { live: 'classes' },
  'get snapshotclasses': { live: 'snapshot-classes' },
  'delete snapshotclass': { live: 'snapshot-classes' },
  'get nodes': { live: 'nodes' },
  'check node': { live: 'nodes' },
  'get snapshots': { live: 'snapshots' },
  'get grants': { live: 'grants' },
  'get populators': { live: 'populators' },
  'unregister populator': { live: 'populators' },
  'create snapshot': { live: 'namespaces', before: true },
  'grant snapshot': SNAPSHOT,
  'restore snapshot': SNAPSHOT,
  'revoke grant': { live: 'grants', anywhere: true },
};

/** Arguments that take any value, beside others of their command. */
const FREE: ReadonlySet<string> = new Set(['resize volume size']);

/** Commands and options listed here, for a test that they exist. */
export const LISTED = { options: Object.keys(OPTIONS), arguments: Object.keys(ARGUMENTS) };

/** Returns the values of an option; undefined if any value is possible. */
export function valuesOf(path: string, { long, argChoices }: Option): Values | undefined {
  if (argChoices !== undefined) return { choices: argChoices };
  return OPTIONS[`${path} ${long}`] ?? OPTIONS[long ?? ''];
}

/** Returns the values of an argument; undefined if any value is possible. */
export function valuesOfArgument(path: string, argument: Argument | undefined): Values | undefined {
  if (argument === undefined || FREE.has(`${path} ${argument.name()}`)) return undefined;
  return argument.argChoices === undefined ? ARGUMENTS[path] : { choices: argument.argChoices };
}
