import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { copyFile, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Volume } from '../../src/api/volume.ts';
import {
  type Attacher,
  createAttacherDetacher,
} from '../../src/controllers/attachdetach/attacher-detacher.ts';
import type { AttachmentOperationKind } from '../../src/controllers/attachdetach/types.ts';
import type { Executor, JobState } from '../../src/nodes/job.ts';
import { createJobWatcher } from '../../src/nodes/job-watcher.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { createLoopNumbers } from '../../src/storage/loop-numbers.ts';
import { carryOut, observe } from '../support/carry-out.ts';
import { deviceUses, mountElsewhere, type Use } from '../support/device-uses.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { describeAsRoot } from '../support/root.ts';
import { sparseScene } from '../support/sparse-scene.ts';
import { startSshd } from '../support/sshd.ts';

interface Hands {
  executor: Executor;
  stop(): Promise<void>;
}

const local = async (): Promise<Hands> => ({
  executor: createShellExecutor(createLocalShell(['n1'])),
  stop: async () => {},
});

async function ssh(): Promise<Hands> {
  const sshd = await startSshd({ nodes: ['n1'] });
  const executor = createShellExecutor(
    createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) }),
  );
  return {
    executor,
    async stop() {
      await executor.close();
      await sshd.stop();
    },
  };
}

const transports: [string, () => Promise<Hands>][] = [
  ['ssh', ssh],
  ['local', local],
];

describeAsRoot.each(EVERY_CASE ? transports : transports.slice(0, 1))(
  'a device used between the check and the detach step, over %s',
  (_, begin) => {
    let hands: Hands;
    const scene = sparseScene('used-between', { onDemand: true });
    let attacher: Attacher;
    /** States of the jobs that ended while they were submitted. */
    let ends: JobState[];

    beforeAll(async () => {
      hands = await begin();
    });
    afterAll(() => hands?.stop());

    beforeEach(async () => {
      ends = [];
      const executor: Executor = {
        ...hands.executor,
        async submit(node, job) {
          const end = await hands.executor.submit(node, job, 120_000);
          ends.push(end);
          return end;
        },
      };
      attacher = createAttacherDetacher({
        executor,
        jobWatcher: createJobWatcher(executor),
        loopNumbers: createLoopNumbers(),
        desiredOf: () => scene.desired,
        isOff: async () => false,
        observe: (_volume, node) => observe(executor, node, scene.desired),
      });
      await carryOut(hands.executor, 'n1', 'provision', scene.desired);
    });

    function run(kind: AttachmentOperationKind, before: () => Promise<void> = async () => {}) {
      const volume = { metadata: { name: scene.desired.name, uid: scene.desired.uid } } as Volume;
      const operation = { kind, node: 'n1', readOnly: false };
      const whyNot = async () => {
        await before();
        return undefined;
      };
      return attacher.run(operation, volume, new AbortController().signal, whyNot, () => {});
    }

    async function attach(): Promise<void> {
      const outcome = await run('attach');
      expect(outcome).toEqual(expect.objectContaining({ is: 'attached', safeToMount: true }));
    }

    /** Returns the devices with the file: name, and whether AUTOCLEAR is set. */
    async function devices(): Promise<string[]> {
      // By the path that the kernel keeps: the file may have been removed.
      const { stdout } = await execa('losetup', ['-n', '-l', '-O', 'NAME,AUTOCLEAR,BACK-FILE']);
      return stdout
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , file]) => file === scene.desired.file)
        .map(([name, autoclear]) => `${name} ${autoclear}`);
    }

    const { mounted, mountedElsewhere, open: opened, stacked, kubelet } = deviceUses(scene);
    const uses: [string, RegExp, Use][] = [
      ['it is mounted', /mounted/, mounted],
      ['it is mounted in another mount namespace', /is in use: it is mounted/, mountedElsewhere],
      [
        'it is unmounted by umount -l, and a file of it is open',
        /is in use: its file system is mounted where no process sees it/,
        async (device) => {
          await execa('mount', [device, scene.mountPoint]);
          const handle = await open(join(scene.mountPoint, 'kept'), 'w');
          await execa('umount', ['-l', scene.mountPoint]);
          return () => handle.close();
        },
      ],
      [
        'it is mounted in a mount namespace without a process',
        /is in use: its file system is mounted where no process sees it/,
        async (device) => {
          const holder = await mountElsewhere(device, scene.mountPoint);
          // The namespace exists as long as this is open, as with a bind mount of it.
          const namespace = await open(`/proc/${holder.pid}/ns/mnt`);
          holder.stdin.end();
          await once(holder, 'close');
          return () => namespace.close();
        },
      ],
      ['a process opens it', /is in use: a process has it open/, opened],
      [
        'a loop is stacked on it',
        /another loop device is stacked on it|held by \/dev\/loop\d+/,
        stacked,
      ],
      [
        'its file is removed',
        /is no longer the observed file|has an earlier file/,
        async () => {
          const kept = join(scene.directory, 'kept');
          await link(scene.desired.file, kept);
          await rm(scene.desired.file);
          return () => rename(kept, scene.desired.file);
        },
      ],
      [
        'its file is replaced',
        /is no longer the observed file|has an earlier file/,
        async () => {
          const kept = join(scene.directory, 'kept');
          const other = join(scene.directory, 'other');
          await link(scene.desired.file, kept);
          await copyFile(scene.desired.file, other);
          await rename(other, scene.desired.file);
          return () => rename(kept, scene.desired.file);
        },
      ],
      ['the kubelet makes a directory for a pod', /the kubelet (still )?has/, kubelet],
    ];

    // Each of the other cases stands for one that the same check refuses.
    const alike = /^(it is mounted$|it is unmounted by umount -l|its file is removed)/;
    const some = EVERY_CASE ? uses : uses.filter(([name]) => !alike.test(name));
    test.each(some)('%s: the job refuses to detach the device', async (_, why, use) => {
      await attach();
      const [found = '', ...others] = await devices();
      expect(others).toEqual([]);
      const device = found.split(' ')[0] ?? '';
      ends = [];
      let end: () => Promise<unknown> = async () => {};
      let asked = 0;
      try {
        // Called after all observations found no user, right before the job is submitted.
        const outcome = await run('detach', async () => {
          asked += 1;
          end = await use(device);
        });
        expect(asked).toBe(1);
        expect(ends).toEqual([
          expect.objectContaining({
            state: 'guarded',
            step: expect.objectContaining({ name: `detach ${device}` }),
            refusal: expect.stringMatching(why),
          }),
        ]);
        expect(outcome).toMatchObject({ is: 'in-use', message: expect.stringMatching(why) });
        // The device does not have AUTOCLEAR set, either.
        expect(await devices()).toEqual([`${device} 0`]);
      } finally {
        await end();
      }
      expect(await run('detach')).toEqual({ is: 'detached' });
      expect(await devices()).toEqual([]);
    });

    test('a mount left by an interrupted growth is removed, and the device detached', async () => {
      await attach();
      const [found = ''] = await devices();
      const left = `/run/stowage/mounts/${scene.desired.uid}`;
      await mkdir(left, { recursive: true });
      await execa('mount', [found.split(' ')[0] ?? '', left]);
      expect(await run('detach')).toEqual({ is: 'detached' });
      expect([await devices(), existsSync(left)]).toEqual([[], false]);
    });

    test('a renamed directory blocks detach and attach until it is renamed back', async () => {
      await attach();
      const { stdout } = await execa('losetup', ['-n', '-O', 'NAME', '-j', scene.desired.file]);
      const files = dirname(scene.desired.file);
      await rename(files, `${files}-moved`);
      const message = expect.stringMatching(
        new RegExp(
          `^${stdout}, to which the persistent path leads, has .*-moved/${scene.desired.uid}, not `,
        ),
      );
      try {
        for (const kind of ['verify', 'detach'] as const) {
          expect(await run(kind)).toMatchObject({ is: 'unknown', message, noDevice: true });
        }
        // The state after the file was restored from elsewhere.
        await mkdir(files);
        await copyFile(join(`${files}-moved`, scene.desired.uid), scene.desired.file);
        expect(await run('attach')).toMatchObject({ is: 'unknown', message, nothingDone: true });
        await rm(files, { recursive: true });
      } finally {
        await rename(`${files}-moved`, files);
      }
      expect(await run('detach')).toEqual({ is: 'detached' });
    });

    const hasFuse = existsSync('/dev/fuse');
    const withFuse = hasFuse ? test : test.skip;
    withFuse(
      `a file system that never responds is reported, and no process hangs on it${hasFuse ? '' : ' (left out: needs /dev/fuse)'}`,
      async () => {
        await attach();
        const hung = await mountSilent(join(scene.directory, 'hung'));
        try {
          const why = /^cannot determine whether a process has \/dev\/loop\d+ open: .* over 10 s, /;
          expect(await run('detach')).toMatchObject({
            is: 'in-use',
            message: expect.stringMatching(why),
          });
          // Excludes processes that have ended but were not reaped, which show no arguments.
          // Other test files run the same command, each in its own mount namespace.
          const here = ['--ns', String(process.pid), '--nslist', 'mnt'];
          const { stdout } = await execa('pgrep', [...here, '-f', '^find -L /proc -maxdepth 3'], {
            reject: false,
          });
          expect(stdout).toBe('');
        } finally {
          await hung.end();
        }
        expect(await run('detach')).toEqual({ is: 'detached' });
      },
    );
  },
);

/** Mounts a file system that never responds, with its root directory open in this process. */
async function mountSilent(folder: string) {
  await mkdir(folder);
  const server = await open('/dev/fuse', 'r+');
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
  const mount = spawn('mount', ['-i', '-t', 'fuse', '-o', options, 'silent', folder], {
    stdio: ['ignore', 'inherit', 'inherit', server.fd],
  });
  expect(await once(mount, 'close')).toEqual([0, null]);
  // Opens only the path, which sends no request to the file system.
  const held = openSync(folder, O_PATH | constants.O_DIRECTORY);
  return {
    async end() {
      closeSync(held);
      // Closing the server fails all pending requests. Unmounting first would send one.
      await server.close();
      await execa('umount', ['--lazy', folder]);
    },
  };
}

/** Node.js has no constant for it. */
const O_PATH = 0o10000000;
