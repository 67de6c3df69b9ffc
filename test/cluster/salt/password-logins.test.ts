import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { createSaltExecutor } from '../../../src/nodes/transport/salt/executor.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { describeAsRoot } from '../../support/root.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { type Salt, startSalt } from './salt.ts';

const USER = `stowage-pam-${process.pid}`;
const PASSWORD = 'it\'s a "password" of tests';

describeAsRoot('logins to salt-api with a password', () => {
  let salt: Salt;
  let folder: { path: string; remove(): Promise<void> };

  beforeAll(async () => {
    folder = await temporaryDirectory('salt-passwords');
    await writeFile(join(folder.path, 'users'), `file-user:${PASSWORD}\n`);
    await execa('useradd', ['--no-create-home', '--shell', '/usr/sbin/nologin', USER]);
    await execa('chpasswd', [], { input: `${USER}:${PASSWORD}\n` });
    const file = {
      '^filename': join(folder.path, 'users'),
      '^filetype': 'text',
      '^hashtype': 'plaintext',
    };
    salt = await startSalt({
      minions: ['n1'],
      api: 'rest_cherrypy',
      master: {
        external_auth: {
          file: { ...file, 'file-user': ['@stowage'] },
          pam: { [USER]: ['@stowage'] },
        },
      },
    });
  });
  afterAll(async () => {
    await salt?.stop();
    await execa('userdel', [USER], { reject: false });
    await folder?.remove();
  });

  async function subjects(eauth: string, user: string, password: string): Promise<unknown> {
    const secretFile = join(folder.path, 'password');
    await writeFile(secretFile, password);
    const executor = createSaltExecutor({
      access: { ...salt.access, eauth, user, secretFile },
      minionOf: (node) => node,
      clock: systemClock,
    });
    try {
      return await executor.subjects('n1');
    } finally {
      await executor.close();
    }
  }

  test.each([
    ['file', 'file-user'],
    ['pam', USER],
  ])('eauth %s accepts the right password, and refuses others', async (eauth, user) => {
    expect(await subjects(eauth, user, PASSWORD)).toEqual(expect.any(Array));
    await expect(subjects(eauth, user, 'another')).rejects.toMatchObject({ code: 'refused' });
    // A user without rights and without this password is refused, too.
    await expect(subjects(eauth, 'nobody', PASSWORD)).rejects.toMatchObject({ code: 'refused' });
  });
});
