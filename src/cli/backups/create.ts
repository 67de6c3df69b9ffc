import { BACKUPS, type Backup, backupTarget } from '../../api/builtins/backup.ts';
import { StowageError } from '../../api/errors.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Connection } from '../../kube/connect.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { commandLine } from '../lib/command-line.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import type { CreateFlags, WaitFlags } from '../lib/objects/flags.ts';
import { nameOf } from '../lib/objects/name.ts';
import { printDone } from '../lib/objects/print.ts';
import { waited } from '../lib/objects/wait.ts';
import type { NamespacedName } from '../lib/parse.ts';

export interface CreateBackupFlags extends CreateFlags, WaitFlags {
  pvc?: NamespacedName;
  snapshot?: NamespacedName;
  to: string;
  authorizationSecret?: { name: string; key: string };
}

/** Runs `stowage create backup`. Calls `connect` only if required. Throws a StowageError. */
export async function createBackup(
  { namespace: given, name }: NamespacedName,
  flags: CreateBackupFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  const { pvc, snapshot, dryRun, output } = flags;
  const of = pvc ?? snapshot;
  if (of === undefined || (pvc !== undefined && snapshot !== undefined)) {
    throw new StowageError('usage', 'A backup is of one claim or of one snapshot', {
      hint: 'Give either --pvc or --snapshot.',
    });
  }
  if (given !== undefined && of.namespace !== undefined && given !== of.namespace) {
    throw new StowageError(
      'usage',
      `A backup must be in the namespace of its claim or snapshot, which is ${of.namespace}`,
      {
        hint: `Create it as ${of.namespace}/${name}. With a grant, a claim of ${given} can be created from it.`,
      },
    );
  }
  const requested = given ?? of.namespace ?? flags.namespace;
  const wantedIn = (namespace: string) => checked(backupOf(name, namespace, flags));
  if (dryRun === 'client') {
    const wanted = wantedIn(requested ?? (await connect()).namespace);
    return printDone([wanted], false, 'created (dry run)', output, io);
  }
  const connection = await connect();
  const { client } = connection;
  const wanted = wantedIn(requested ?? connection.namespace);
  const server = dryRun === 'server';
  const options = { dryRun: server, strict: true, signal: io.signal };
  let made = await client.create(BACKUPS, wanted, options).catch(missingKind);
  if (flags.wait && !server) {
    io.stderr.write(`${nameOf(made)} created\n`);
    made = await untilMade(made, flags.timeout, io, client);
  }
  const done = server ? 'created (server dry run)' : flags.wait ? 'completed' : 'created';
  printDone([made], false, done, output, io);
}

const backupOf = (name: string, namespace: string, flags: CreateBackupFlags): Backup => ({
  apiVersion: apiVersionOf(BACKUPS),
  kind: BACKUPS.kind,
  metadata: { name, namespace },
  spec: {
    ...(flags.pvc === undefined ? {} : { claimName: flags.pvc.name }),
    ...(flags.snapshot === undefined ? {} : { snapshotName: flags.snapshot.name }),
    to: {
      ...(flags.to.startsWith('/') ? { path: flags.to } : { url: flags.to }),
      ...(flags.authorizationSecret === undefined
        ? {}
        : { authorizationSecretRef: flags.authorizationSecret }),
    },
  },
});

function checked(backup: Backup): Backup {
  const target = backupTarget(backup);
  if (!('message' in target)) return backup;
  const flagged = target.message
    .replace('spec.to.authorizationSecretRef', '--authorization-secret')
    .replace(/spec\.to(\.\w+)?/, '--to');
  throw new StowageError('usage', flagged);
}

function missingKind(error: unknown): never {
  if (!isNotFound(error) || error.status.details?.name !== undefined) throw error;
  throw new StowageError('not-found', 'This cluster has no Backups', {
    hint: 'Install their definition: stowage install --components populator-crds',
    cause: error,
  });
}

async function untilMade(
  { metadata }: Backup,
  timeoutMs: number,
  io: Io,
  client: KubeClient,
): Promise<Backup> {
  const { namespace = '', name, uid } = metadata;
  const object = { kind: BACKUPS.kind, name, namespace };
  return waited<Backup>(client, BACKUPS, object, io, {
    uid,
    timeoutMs,
    isDone({ status }) {
      if (status?.phase !== 'Failed') return status?.phase === 'Completed';
      throw new StowageError(
        'failed',
        `Backup ${namespace}/${name} failed: ${status.message ?? ''}`,
        {
          object,
          hint: 'Once the cause is fixed, delete the Backup, and create it again.',
        },
      );
    },
    progressOf: ({ status }) =>
      status?.message
        ? `${status.phase ?? 'Pending'}: ${status.message}`
        : (status?.phase ?? 'Pending'),
    hint: `The daemon continues it. Check its events: ${commandLine('kubectl', 'describe', 'backup', name, '-n', namespace)}`,
  });
}
