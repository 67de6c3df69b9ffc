import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { checkPreconditions } from '../../src/nodes/check-preconditions.ts';
import { unusedPreconditions } from '../../src/storage/device.ts';
import { observe } from '../support/carry-out.ts';
import { deviceUses, type Use } from '../support/device-uses.ts';
import { localSparse } from '../support/local-sparse.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';

describeAsRoot('a sparse file whose loop device is in use', () => {
  const scene = localSparse('sparse-in-use');
  const { executor, carry, prepared, deviceOf, faults, expectDestroyed } = scene;

  describe('is neither detached nor destroyed while', () => {
    const { mounted, mountedElsewhere, open: opened, stacked, kubelet } = deviceUses(scene);
    const uses: [string, RegExp, Use][] = [
      ['mounted here', /mounted at .*\/mnt$/, mounted],
      ['mounted in another mount namespace', /is in use: it is mounted$/, mountedElsewhere],
      ['open in a process', /is in use: a process has it open$/, opened],
      [
        'open in a process by another name',
        /is in use: a process has it open$/,
        async (device) => {
          const other = join(scene.directory, `${scene.desired.uid}-node`);
          const numbers = (await execa('stat', ['-c', '%Hr %Lr', device])).stdout.split(' ');
          await execa('mknod', [other, 'b', ...numbers]);
          return opened(other);
        },
      ],
      ['below another loop device', /held by \/dev\/loop\d+$/, stacked],
      [
        'in a pod directory of the kubelet',
        /the kubelet has .*\/data1 for the pod with the UID pod-1$/,
        kubelet,
      ],
    ];

    test.each(uses)('%s', async (_, refusal, use) => {
      const end = await use(await prepared());
      try {
        expect(await carry('detach')).toMatch(refusal);
        expect(await carry('delete')).toMatch(refusal);
        // The preconditions alone refuse it, too, before any job.
        const seen = await observe(executor, 'n1', scene.desired);
        expect(
          await checkPreconditions(executor, 'n1', unusedPreconditions(scene.desired, seen)),
        ).toMatchObject({ refusal: expect.any(String) });
        // The device does not have AUTOCLEAR set, either.
        expect(await faults(true)).toEqual([]);
      } finally {
        await end();
      }
      const seen = await observe(executor, 'n1', scene.desired);
      expect(
        await checkPreconditions(executor, 'n1', unusedPreconditions(scene.desired, seen)),
      ).toBeUndefined();
      await expectDestroyed();
    });
  });

  test.each([
    [
      'is bind-mounted by the kubelet below a loop device',
      'kubelet/plugins/kubernetes.io~local-volume/volumeDevices/data1',
      /the kubelet has .*\/volumeDevices\/data1\/pod-1 for the pod with the UID pod-1$/,
    ],
    [
      'is bind-mounted elsewhere below a loop device',
      'elsewhere',
      /another loop device is stacked on it$/,
    ],
  ])('whose device %s is not detached', async (_, place, refusal) => {
    const device = await prepared();
    const devices = join(scene.directory, place);
    await mkdir(devices, { recursive: true });
    const bound = join(devices, 'pod-1');
    await writeFile(bound, '');
    await execa('mount', ['--bind', device, bound]);
    const { stdout: stacked } = await execa('losetup', ['-f', '--show', bound]);
    try {
      // The kernel does not name the device that the loop device is stacked on.
      expect((await execa('losetup', ['-n', '-O', 'BACK-FILE', stacked])).stdout).toBe(bound);
      expect(await carry('detach')).toMatch(refusal);
      const seen = await observe(executor, 'n1', scene.desired);
      expect(
        await checkPreconditions(executor, 'n1', unusedPreconditions(scene.desired, seen)),
      ).toMatchObject({ refusal: expect.stringMatching(/is stacked on it$/) });
    } finally {
      await execa('losetup', ['-d', stacked]);
      await execa('umount', [bound]);
      await rm(bound);
    }
    await expectDestroyed();
  });

  test('is uncertain after a detach while in use, until the use ends', async () => {
    const device = await prepared();
    await execa('mount', [device, scene.mountPoint]);
    await execa('losetup', ['-d', device]);
    expect(await carry('attach')).toContain('was detached while in use');
    expect(await carry('detach')).toContain('is in use');
    await execa('umount', [scene.mountPoint]);
    await until('the kernel detaches the device', async () => {
      const { stdout } = await execa('losetup', ['-j', scene.desired.file]);
      return stdout === '' ? true : undefined;
    });
    deviceOf(await carry('attach'));
    await expectDestroyed();
  });
});
