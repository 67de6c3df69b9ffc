import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import {
  NAMESPACES,
  NODES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { fresh, SNAPSHOT } from '../support/snapshots.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { onTerminal, type Typed } from '../support/terminal.ts';
import { until } from '../support/until.ts';
import { classNamed, volumeNamed } from '../support/volumes.ts';

const sandboxes: Sandbox[] = [];
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let env: Record<string, string>;

/** A kubeconfig of two clusters. `other` has an additional Volume. */
beforeAll(async () => {
  folder = await temporaryDirectory('completion');
  const files: string[] = [];
  for (const name of ['main', 'other']) {
    const sandbox = await startSandbox({ crds: ALL_CRDS });
    sandboxes.push(sandbox);
    const file = join(folder.path, `${name}.yaml`);
    await writeFile(file, sandbox.kubeconfig.replaceAll(/\bstowage-sandbox\b|\bsandbox\b/g, name), {
      mode: 0o600,
    });
    files.push(file);
    const { client } = await connect({ kubeconfig: file });
    await client.create<KubeObject>(VOLUMES, fresh(volumeNamed('data1')));
    if (name === 'other') await client.create<KubeObject>(VOLUMES, fresh(volumeNamed('elsewhere')));
    await client.create<KubeObject>(STORAGE_CLASSES, fresh(classNamed('local')));
    for (const node of ['n1', 'big1']) {
      await client.create<KubeObject>(NODES, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: node },
      });
    }
    for (const space of ['default', 'prod']) {
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: space } };
      await client.create<KubeObject>(NAMESPACES, object).catch(() => {});
    }
    await client.create<KubeObject>(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
  }
  const bin = join(folder.path, 'bin');
  await mkdir(bin);
  for (const name of await readdir('bin')) await symlink(resolve('bin', name), join(bin, name));
  await writeFile(join(folder.path, 'manifest.yaml'), '');
  env = {
    KUBECONFIG: files.join(':'),
    HOME: folder.path,
    ZDOTDIR: folder.path,
    XDG_CACHE_HOME: '',
    XDG_CONFIG_HOME: '',
    XDG_DATA_HOME: '',
    PATH: `${bin}:${process.env.PATH}`,
    LC_ALL: 'C.UTF-8',
  };
  await writeFile(join(folder.path, 'bashrc'), BASH);
  await writeFile(join(folder.path, '.zshrc'), ZSH);
  await writeFile(join(folder.path, 'config.fish'), FISH);
});

afterAll(async () => {
  for (const sandbox of sandboxes) await sandbox.stop();
  await folder.remove();
});

/** On Ctrl-X Ctrl-P, each shell prints its command line. */
const BASH = `PS1='ready$ '
source ${resolve('completions/stowage.bash')}
bind 'set bell-style none'
COMP_WORDBREAKS=\${BREAKS-$COMP_WORDBREAKS}
bind 'set enable-bracketed-paste off'
bind -x '"\\C-x\\C-p": printf "\\nline[%s]line\\n" "$READLINE_LINE"'
`;
const ZSH = `PS1='ready$ ' PS2= RPS1=
unsetopt BEEP
autoload -Uz compinit && compinit -u -d ${'$'}ZDOTDIR/compdump
source ${resolve('completions/_stowage')}
say() { printf '\\nline[%s]line\\n' "$BUFFER" }
zle -N say
bindkey '^X^P' say
`;
const FISH = `function fish_prompt; printf 'ready$ '; end
function fish_greeting; end
set -g fish_autosuggestion_enabled 0
source ${resolve('completions/stowage.fish')}
bind \\cx\\cp 'printf "\\nline[%s]line\\n" (commandline)'
`;
const SHELLS: Record<string, () => string> = {
  bash: () => `bash --noprofile --rcfile ${folder.path}/bashrc -i`,
  zsh: () => 'zsh -i',
  fish: () => `fish --no-config --init-command 'source ${folder.path}/config.fish' -i`,
};

/** Returns the lines after Tab was pressed at their ends. */
async function completed(
  shell: string,
  lines: readonly string[],
  more: Record<string, string> = {},
): Promise<string[]> {
  const typed: Typed[] = lines.map((line, index) => [
    index === 0 ? 'ready$' : ']line',
    `${index === 0 ? '' : '\u0015'}${line}\t\u0018\u0010`,
  ]);
  const { shown } = await onTerminal(
    `sh -c "cd '${folder.path}'; exec ${SHELLS[shell]?.()}"`,
    [...typed, [']line', '\u0015exit\r']],
    { env: { ...env, ...more }, columns: 500 },
  );
  const found = [...shown.matchAll(/line\[(.*?)\]line/gs)].map(([, line = '']) => line);
  if (found.length !== lines.length) throw new Error(`${shell}: ${JSON.stringify(shown)}`);
  return found;
}

/** Typed lines, and their completions. */
const CASES: readonly (readonly [typed: string, becomes: string])[] = [
  ['stowage descr', 'stowage describe '],
  ['stowage get vol', 'stowage get volumes '],
  ['stowage create volume --stor', 'stowage create volume --storage-class '],
  ['stowage create volume --type sp', 'stowage create volume --type sparse '],
  ['stowage create volume --type=sp', 'stowage create volume --type=sparse '],
  ['stowage delete vol da', 'stowage delete vol data1 '],
  ['stowage create volume --node b', 'stowage create volume --node big1 '],
  ['stowage create volume --node=b', 'stowage create volume --node=big1 '],
  ['stowage create volume --node n1,b', 'stowage create volume --node n1,big1 '],
  ['stowage create volume a --storage-class lo', 'stowage create volume a --storage-class local '],
  ['stowage get snapshots -n prod f', 'stowage get snapshots -n prod foo-backup '],
  ['stowage restore snapshot prod/f', 'stowage restore snapshot prod/foo-backup '],
  ['stowage restore snapshot pro', 'stowage restore snapshot prod/'],
  ['stowage get volumes -n pro', 'stowage get volumes -n prod '],
  ['stowage --context ot', 'stowage --context other '],
  ['stowage --context other delete volume e', 'stowage --context other delete volume elsewhere '],
  ['stowage delete volume e', 'stowage delete volume e'],
  ['stowage why volume/da', 'stowage why volume/data1 '],
  ['stowage help get vol', 'stowage help get volumes '],
  ['stowage create -f mani', 'stowage create -f manifest.yaml '],
  ['stowage create --filename=mani', 'stowage create --filename=manifest.yaml '],
  ['stowage create volume --size 1', 'stowage create volume --size 1'],
];

describe.each(Object.keys(SHELLS))('%s', (shell) => {
  test('completes commands, options, and names of objects in the selected cluster', async () => {
    const became = new Map<string, string>();
    // If a request for names takes longer than a second, the completion is empty, and a user
    // presses Tab again.
    for (let left = 3; left > 0; left--) {
      const lines = CASES.filter(
        ([line, becomes]) =>
          [undefined, line].includes(became.get(line)) && became.get(line) !== becomes,
      ).map(([line]) => line);
      if (lines.length === 0) break;
      for (const [index, line] of (await completed(shell, lines)).entries())
        became.set(lines[index] ?? '', line);
    }
    expect([...became]).toEqual(CASES.map((each) => [...each]));
  });

  test('leaves the line unchanged if the kubeconfig is missing', async () => {
    const line = 'stowage delete volume ';
    expect(await completed(shell, [line], { KUBECONFIG: '/nonexistent' })).toEqual([line]);
  });

  test('completes a name with @ and : for any value of COMP_WORDBREAKS', async () => {
    const bin = join(folder.path, `context-${shell}`);
    await mkdir(bin);
    await writeFile(join(bin, 'stowage'), "#!/bin/sh\nprintf 'admin@a:prod\\n:4\\n'\n");
    await chmod(join(bin, 'stowage'), 0o755);
    const path = { PATH: `${bin}:${process.env.PATH}` };
    const lines = [
      'stowage --context adm',
      'stowage --context admin@a',
      'stowage --context=admin@a:p',
    ];
    const became = [
      'stowage --context admin@a:prod ',
      'stowage --context admin@a:prod ',
      'stowage --context=admin@a:prod ',
    ];
    // zsh escapes characters that are special to it.
    const plain = async (more: object) =>
      (await completed(shell, lines, { ...path, ...more })).map((line) =>
        line.replaceAll('\\', ''),
      );
    expect(await plain({})).toEqual(became);
    expect(await plain({ BREAKS: ' \t\n' })).toEqual(became);
    expect(await plain({ BREAKS: ' \t\n:' })).toEqual(became);
  });

  test('executes no candidate of a malicious program named stowage', async () => {
    const bin = join(folder.path, `hostile-${shell}`);
    await mkdir(bin);
    const hacked = join(bin, 'hacked');
    const name = `x$(touch ${hacked})\`touch ${hacked}\`;touch ${hacked}`;
    const directive = `:x[$(touch ${hacked})]`;
    await writeFile(
      join(bin, 'stowage'),
      `#!/bin/sh\nprintf '%s\\n' '${name}' '${directive}' :4\n`,
    );
    await chmod(join(bin, 'stowage'), 0o755);
    const path = { PATH: `${bin}:${process.env.PATH}` };
    const [line = ''] = await completed(shell, ['stowage delete volume x'], path);
    expect(line).not.toBe('stowage delete volume x');
    // The inserted name is one word, equal to the candidate.
    const { stdout } = await execa(
      shell,
      ['-c', line.replace('stowage delete volume', "printf '<%s>'")],
      {
        env: { ...env, ...path },
      },
    );
    expect(stdout).toBe(`<${name}>`);
    expect(await readdir(bin)).toEqual(['stowage']);
  });
});

test('fish shows descriptions', async () => {
  const { stdout } = await execa(
    'fish',
    [
      '--no-config',
      '-c',
      `source ${resolve('completions/stowage.fish')}; complete -C 'stowage delete volume d'`,
    ],
    { env },
  );
  expect(stdout).toBe('data1\tUnknown on n1');
});

describe('kubectl', () => {
  const kubectl = (...argv: string[]) => execa('kubectl', argv, { env, reject: false });

  test('runs stowage as a plugin', async () => {
    expect(await kubectl('stowage', 'get', 'volumes', '-o', 'name')).toMatchObject({
      exitCode: 0,
      stdout: 'volume.storage.metalk8s.scality.com/data1',
    });
    expect(await kubectl('stowage', 'get', 'volume', 'nowhere')).toMatchObject({
      exitCode: 3,
      stdout: '',
    });
  });

  test.each([
    [['get', 'vo'], 'volumes\tlist Volumes\n:4'],
    [['delete', 'volume', ''], 'data1\tUnknown on n1\n:4'],
    [['restore', 'snapshot', 'pro'], 'prod/\n:6'],
    [['--context', 'other', 'delete', 'volume', 'e'], 'elsewhere\tUnknown on n1\n:4'],
  ])('completes %j', async (words, stdout) => {
    // If a request takes longer than a second, as on a busy machine, the completion is empty:
    // retry.
    await until(
      `completion of ${words}`,
      async () => (await kubectl('__complete', 'stowage', ...words)).stdout === stdout || undefined,
    );
  });
});

test('the scripts that are checked in are what `stowage completion` prints', async () => {
  for (const [shell, path] of [
    ['bash', 'stowage.bash'],
    ['zsh', '_stowage'],
    ['fish', 'stowage.fish'],
  ] as const) {
    const printed = await execa('bin/stowage', ['completion', shell]);
    expect((await execa('cat', [`completions/${path}`])).stdout).toBe(printed.stdout);
  }
});

test('shellcheck reports nothing for the bash completion and the scripts in bin/', async () => {
  const files = (await readdir('bin')).map((name) => join('bin', name));
  const { stdout } = await execa('shellcheck', ['completions/stowage.bash', ...files], {
    reject: false,
  });
  expect(stdout).toBe('');
});

test('man renders every page without warnings', async () => {
  for (const name of await readdir('man')) {
    const { stdout, stderr } = await execa(
      'man',
      ['--warnings', '-E', 'UTF-8', '-l', join('man', name)],
      {
        env: { MANWIDTH: '80', LC_ALL: 'C.UTF-8', MANPAGER: 'cat' },
      },
    );
    expect({ name, stderr }).toEqual({ name, stderr: '' });
    expect(stdout).toContain('SYNOPSIS');
  }
});
