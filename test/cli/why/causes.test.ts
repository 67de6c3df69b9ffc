import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { REASONS, type Reason } from '../../../src/cli/why/reasons.ts';
import { PAGE } from '../../support/output-page.ts';

const CLAIMS = 'test/thorough/daemon/why-claims.test.ts';
const ATTACHMENTS = 'test/thorough/daemon/why-attachments.test.ts';
const POPULATION = 'test/integration/daemon/why-population.test.ts';
const KINDS = 'test/cli/why/kinds.test.ts';
const NODES = 'test/thorough/why-nodes.test.ts';
const VOLUMES = 'test/integration/why.test.ts';
const SALT = 'test/cluster/salt/why.test.ts';
// Files of test/thorough/daemon/why-all.test.ts.
const ALL_VOLUMES = 'test/support/why-all/volumes.ts';
const ALL_CLAIMS = 'test/support/why-all/claims.ts';

/**
 * Problems that `why` must explain, by name of the cause. The named test causes each with real
 * parts, follows the printed fix, and checks that the problem ends.
 */
const INVENTORY: readonly [what: string, cause: Reason, shownIn: string][] = [
  ['daemon absent (stale lease)', 'DaemonAbsent', NODES],
  ['paused', 'Paused', ATTACHMENTS],
  ['node unreachable', 'NodeUnreachable', NODES],
  ['host key changed', 'HostKeyChanged', NODES],
  ['sudo password', 'SudoRefused', NODES],
  ['tool missing', 'ToolMissing', NODES],
  ['Salt module missing', 'SaltModuleMissing', SALT],
  ['Salt module old', 'SaltModuleOld', SALT],
  ['minion down', 'MinionDown', SALT],
  ['signature on the device', 'SignatureFound', NODES],
  ['device used elsewhere, by another Volume', 'DeviceOfAnother', NODES],
  ['device used elsewhere, by others', 'DeviceInUse', NODES],
  ['no space', 'NoSpace', NODES],
  ['class missing, of a Volume', 'StorageClassMissing', VOLUMES],
  ['class missing, of a claim', 'StorageClassMissing', CLAIMS],
  ['class invalid', 'StorageClassInvalid', VOLUMES],
  ['invalid spec', 'InvalidSpec', VOLUMES],
  ['name taken', 'NameTaken', VOLUMES],
  ['CRD missing', 'CRDMissing', KINDS],
  ['gate off', 'GateOff', CLAIMS],
  ['kind not registered', 'KindNotRegistered', CLAIMS],
  ['source missing', 'SourceMissing', CLAIMS],
  ['grant missing', 'GrantMissing', CLAIMS],
  ['snapshot not ready', 'SnapshotNotReady', CLAIMS],
  ['class of a snapshot missing', 'SnapshotClassMissing', CLAIMS],
  ['claim smaller than snapshot', 'ClaimTooSmall', CLAIMS],
  ['no room on the selected node', 'NoRoom', CLAIMS],
  ['no consumer yet', 'NoConsumer', CLAIMS],
  ['Multi-Attach', 'MultiAttach', ATTACHMENTS],
  ['waiting for unmount', 'WaitingForUnmount', NODES],
  ['node NotReady timer', 'NodeNotReady', ATTACHMENTS],
  ['bound claim holds deletion', 'ClaimHoldsDeletion', CLAIMS],
  ['pods hold deletion', 'PodsHoldDeletion', CLAIMS],
  ['foreign finalizer', 'ForeignFinalizer', CLAIMS],
  ['population failing (with its last log)', 'PopulationFailing', POPULATION],
  ['job running (step and time)', 'JobRunning', NODES],
  ['node missing', 'NodeMissing', ATTACHMENTS],
  ['node address invalid', 'AddressInvalid', ATTACHMENTS],
  ['node out of service', 'NodeOutOfService', ATTACHMENTS],
  ['device not plugged in', 'DeviceMissing', ALL_VOLUMES],
  ['path that is not a device', 'Failed', ALL_VOLUMES],
  ['directory not mounted', 'DirectoryNotMounted', ALL_VOLUMES],
  ['no daemon for its node', 'NotTakenUp', ALL_VOLUMES],
  ['second loop device of its file', 'Unavailable', ALL_VOLUMES],
  ['pod on a node that cannot attach its Volume', 'WrongNode', ALL_VOLUMES],
  ['no room to expand on its node', 'NotGrown', ALL_CLAIMS],
  ['claim of a pod missing', 'ClaimMissing', ALL_CLAIMS],
  ['claim of a snapshot Pending', 'ClaimUnbound', ALL_CLAIMS],
  ['PersistentVolume gone', 'ClaimLost', ALL_CLAIMS],
  ['no volume of a static class', 'NoFreeVolume', ALL_CLAIMS],
  ['pod that fits no node', 'NotScheduled', ALL_CLAIMS],
  ['class of another provisioner', 'ForeignProvisioner', ALL_CLAIMS],
  ['source that the API server dropped', 'SourceDropped', ALL_CLAIMS],
  ['source in a static class', 'SourceRefused', ALL_CLAIMS],
  ['source that is being deleted', 'SourceNotReady', ALL_CLAIMS],
  ['source of another populator', 'ForeignPopulator', ALL_CLAIMS],
  ['snapshot that fails', 'SnapshotFailing', ALL_CLAIMS],
  ['content of a snapshot missing', 'ContentMissing', ALL_CLAIMS],
  ['content of another snapshot', 'ContentMismatch', ALL_CLAIMS],
  ['claim in use as a source', 'UsedAsSource', ALL_CLAIMS],
];

describe('a test proves the printed fix for', () => {
  test.each(INVENTORY)('%s: %s', (_, cause, file) => {
    const titles = [
      ...readFileSync(file, 'utf8').matchAll(/(?:\btest\(|\]\)\(|^ {4}cause:)\s*['"`]([^'"`]*)/gm),
    ].map(([, title = '']) => title);
    expect(titles.flatMap((title) => title.split(/\W+/))).toContain(cause);
  });
});

test('docs/output.md lists each cause, in this order, and no other', () => {
  const [, listed = ''] = /^ {2}cause:\n {4}enum: \[([^\]]*)\]/m.exec(PAGE) ?? [];
  expect(listed.split(',').map((name) => name.trim())).toEqual([...REASONS]);
});

test('each cause is reported by code in src/cli/why or src/api/reasons', () => {
  const source = ['src/cli/why', 'src/api/reasons']
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && file !== 'reasons.ts')
        .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
    )
    .join('');
  expect(REASONS.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
});
