import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { SCRIPT_FILES } from '../support/other-script.ts';
import { describeAsRoot } from '../support/root.ts';
import { type SourceServer, startSourceServer } from '../support/source-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { CERTIFICATE } from '../support/tls.ts';

describeAsRoot('a program that parses untrusted data', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: SourceServer;
  beforeAll(async () => {
    folder = await temporaryDirectory('rights');
    server = await startSourceServer();
    server.paths.set('/x?y="\\', Buffer.from('fetched'));
  });
  afterAll(async () => {
    await server.stop();
    await folder.remove();
  });

  /**
   * Runs a part of a script in the environment of scripts that fill volumes, with a secret variable
   * and an open descriptor.
   */
  async function inside(part: string): Promise<string> {
    const script = `. ./fetch.sh; umask 077; work=$1; mount -t tmpfs -o mode=700 tmpfs "$work" || exit 9; exec 5<"$1"; ${part}`;
    const words = [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      script,
    ];
    const { all } = await execa('unshare', [...words, 'inside', folder.path], {
      ...{
        cwd: SCRIPT_FILES,
        all: true,
        reject: false,
        timeout: 120_000,
        env: { SECRET: 'S3CRET', CA: CERTIFICATE },
      },
    });
    return all;
  }
  const RIGHTS = 'setpriv --dump | grep -e ^uid -e no_new -e bounding';

  test('has no capabilities, environment or network, and sees only programs', async () => {
    const look = `${RIGHTS}; ls /; echo $SECRET; head -c 1 <&5; curl -sS ${server.url('/x')}; echo x >/usr/x`;
    expect(
      await inside(
        `make_jail root; nobody sh -c ${JSON.stringify(look).replaceAll('$', '\\$')} 2>&1`,
      ),
    ).toMatch(
      /^uid: 65534\nno_new_privs: 1\nCapability bounding set: \[none\]\n(bin|lib\w*|new|sbin|usr|\n)+sh: 1: 5: Bad file descriptor\ncurl: \(7\)[^\n]*\nsh: 1: cannot create \/usr\/x: Read-only file system$/,
    );
    expect(server.asked).toEqual([]);
  });

  test('tar runs as root with only the capabilities that it requires', async () => {
    expect(await inside(`make_jail root; jailed ,+chown sh -c '${RIGHTS}'`)).toBe(
      'uid: 0\nno_new_privs: 1\nCapability bounding set: chown',
    );
  });

  test('curl trusts only the certificates that the node trusts', async () => {
    const tls = await startSourceServer({ tls: true });
    try {
      tls.paths.set('/x', Buffer.from('fetched'));
      const fetch = `prepare_curl x; configure https://api.test/x; (become_curl --connect-to ::127.0.0.1:${tls.port})`;
      expect(await inside(fetch)).toMatch(/^curl: \(60\) SSL certificate problem/);
      const trusted =
        'mount -t tmpfs tmpfs /etc/ssl/certs; (umask 022; echo "$CA" >/etc/ssl/certs/ca-certificates.crt)';
      expect(await inside(`${trusted}; ${fetch}`)).toBe('fetched');
    } finally {
      await tls.stop();
    }
  });

  test('curl reads its request from a file, and cannot read accounts of the node', async () => {
    const fetch = `configure '${server.url('/x?y="\\')}' 'Bearer "\\'; (become_curl --connect-to ::127.0.0.1:${server.port})`;
    expect(await inside(`prepare_curl x; ${fetch}`)).toBe('fetched');
    expect(server.asked).toEqual([{ path: '/x?y="\\', authorization: 'Bearer "\\' }]);
    const CURL = '"" --reuid=65521 --regid=65521 --clear-groups';
    expect(
      await inside(`prepare_curl x; enter net 1048576 ${CURL} sh -c '${RIGHTS}; ls /etc'`),
    ).toMatch(
      /^uid: 65521\nno_new_privs: 1\nCapability bounding set: \[none\]\n(?![\s\S]*(passwd|shadow|resolv))[\s\S]*ssl[\s\S]*$/,
    );
  });
});
