import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { backupStep } from '../../src/storage/populate/backup.ts';
import { startGuarded } from '../support/guarded.ts';
import { describeAsRoot } from '../support/root.ts';
import { allowSources, type SourceServer, startSourceServer } from '../support/source-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const SIZE = 32n << 20n;
const SECRET = randomBytes(1 << 20);

describeAsRoot('a key with the forced command', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let guarded: Awaited<ReturnType<typeof startGuarded>>;
  let server: SourceServer;
  let sent: Buffer[];
  let disallow: () => Promise<void>;

  beforeAll(async () => {
    folder = await temporaryDirectory('guarded-backup');
    await mkdir(join(folder.path, 'volumes', 'snapshots'), { recursive: true });
    guarded = await startGuarded(folder.path, `node n1\ndirectory ${folder.path}/volumes\n`);
  });
  beforeEach(async () => {
    sent = [];
    server = await startSourceServer();
    server.paths.set('/stolen', (request, response) => {
      request.on('data', (chunk: Buffer) => sent.push(chunk));
      request.on('end', () => response.writeHead(201).end());
    });
  });
  afterEach(async () => {
    await server.stop();
    await disallow();
  });
  afterAll(async () => {
    await guarded?.executor.close();
    await guarded?.sshd.stop();
    await folder?.remove();
  });

  /** Sends a snapshot with the secret in it to the server. */
  async function send() {
    const uid = randomUUID();
    const file = join(folder.path, 'volumes', 'snapshots', uid);
    const secret = join(folder.path, 'secret');
    await writeFile(secret, SECRET);
    await writeFile(file, '');
    await truncate(file, Number(SIZE));
    await execa('mkfs.ext4', ['-q', '-U', uid, file]);
    await execa('debugfs', ['-w', '-R', `write ${secret} secret`, file]);
    const step = backupStep(
      { uid, file, mode: 'Filesystem', to: server.url('/stolen') },
      {
        file: { type: 'file', sizeBytes: SIZE, inode: '9' },
        signature: { found: 'one', type: 'ext4', uuid: uid },
        made: undefined,
      },
    );
    if ('refusal' in step) throw new Error(step.refusal);
    const job = { key: { subject: uid, id: 'x' }, steps: [step] };
    const ended = await guarded.executor.submit('n1', job, 60_000);
    await guarded.executor.purge('n1', uid);
    return ended;
  }

  test('sends no snapshot to a server that the node does not list', async () => {
    disallow = await allowSources('allow-address 127.0.0.1');
    expect(await send()).toMatchObject({
      state: 'failed',
      output: expect.stringContaining(
        'begins with no prefix that /etc/stowage/sources.conf on this node lists',
      ),
    });
    expect(sent).toEqual([]);
  });

  test('sends a snapshot to a server that the node lists', async () => {
    disallow = await allowSources('allow-address 127.0.0.1', `backup-to ${server.url('/')}`);
    expect(await send()).toMatchObject({ state: 'succeeded' });
    const archive = join(folder.path, 'archive');
    await writeFile(archive, Buffer.concat(sent));
    const { stdout } = await execa('sh', ['-c', 'zstd -dc "$0" | tar -xO ./secret', archive], {
      encoding: 'buffer',
    });
    expect(Buffer.from(stdout).equals(SECRET)).toBe(true);
  });
});
