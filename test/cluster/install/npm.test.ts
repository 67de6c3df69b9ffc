import { copyFile, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { addNode, newRoot, pack, type Root } from './root.ts';
import { type Scene, startScene, WITHIN } from './scene.ts';

let scene: Scene;
let root: Root;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let packed: Awaited<ReturnType<typeof pack>>;

beforeAll(async () => {
  folder = await temporaryDirectory('pack');
  packed = await pack(folder.path);
  [scene, root] = await Promise.all([startScene(), newRoot()]);
  await addNode(root);
  await root.type('apt-get update && apt-get install --yes --no-install-recommends openssh-client');
  await scene.equip(root);
}, 1_800_000);
afterAll(async () => {
  await scene?.stop();
  await root?.remove();
  await folder?.remove();
});

test(
  'the steps of docs/installing.md for the npm package lead to a bound claim',
  async () => {
    const [packs = '', installs = '', ...rest] = scene.guide.commands('The command');
    expect(packs).toBe('npm pack');
    const name = packed.file.split('/').at(-1) ?? '';
    expect(installs).toContain(`./${name}`);
    await copyFile(packed.file, root.outside(`root/${name}`));
    // Installs offline: the package has no dependencies.
    const { stdout } = await root.type(`npm_config_offline=true ${installs}`);
    expect(stdout).toMatch(/^added 1 package in /m);
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect((await root.type('stowage --version')).stdout).toBe(version);
    expect(rest.at(-1)).toBe('stowage watch');
    for (const line of rest.slice(0, -1)) await root.type(line);
    const daemon = root.type('exec stowage watch', { reject: false });
    await scene.firstClaim((line) => root.type(line));
    expect((await root.type('kubectl stowage get volumes')).stderr).toContain('No volumes found');
    daemon.kill('SIGTERM');
    const { exitCode, stderr } = await daemon;
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('"msg":"watching"')]);
    for (const line of scene.guide.commands('Removing it')) {
      const { failed, stderr: told } = await root.type(line, { reject: false });
      expect([line, failed, told]).toEqual([line, false, expect.any(String)]);
    }
    await until('nothing is left of the package', async () => {
      const { stdout: left } = await root.type('find /usr/local -name "*stowage*"');
      return left === '' ? true : undefined;
    });
  },
  4 * WITHIN,
);
