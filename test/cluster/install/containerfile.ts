import { createHash } from 'node:crypto';
import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { execa } from 'execa';
import type { Root } from './root.ts';

/** User, entrypoint and environment of an image's containers. */
export interface ImageConfig {
  User: string;
  Entrypoint: string[];
  Env: string[];
}

const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Executes a Containerfile without a registry and without a program that builds images.
 * @param root stands for the image of the last FROM
 * @param stages return paths of the other stages' files, by stage name
 * @param context directory of the files that ADD reads
 * @throws Error for an unknown instruction or stage
 */
export async function build(
  file: string,
  root: Root,
  stages: Readonly<Record<string, (path: string) => string>>,
  context: string,
): Promise<ImageConfig> {
  const config: ImageConfig = { User: '', Entrypoint: [], Env: [PATH] };
  const text = (await readFile(file, 'utf8')).replaceAll(/^#.*\n/gm, '').replaceAll('\\\n', '');
  const instructions = text.split('\n').filter((line) => line.trim() !== '');
  const last = instructions.findLastIndex((line) => line.startsWith('FROM '));
  for (const line of instructions.slice(last + 1)) {
    const [, instruction = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    const [, stage = '', from = '', to = ''] = /^--from=(\S+) (\S+) (\S+)$/.exec(rest) ?? [];
    switch (instruction) {
      case 'RUN':
        await root.type(rest, { env: { DEBIAN_FRONTEND: 'noninteractive' } });
        break;
      case 'COPY': {
        const place = stages[stage];
        if (place === undefined) throw new Error(`no stage is known for: ${line}`);
        await cp(place(from), root.outside(to), { dereference: true });
        break;
      }
      case 'ADD': {
        const [pattern = '', folder = ''] = rest.split(' ');
        const archive = await execa('sh', ['-c', `ls -d -- ${pattern}`], { cwd: context });
        await execa('tar', [
          '-x',
          '-z',
          '--no-same-owner',
          '-f',
          resolve(context, archive.stdout),
          '-C',
          root.outside(folder),
        ]);
        break;
      }
      case 'USER':
        config.User = rest;
        break;
      case 'ENTRYPOINT':
        config.Entrypoint = JSON.parse(rest);
        break;
      case 'ENV':
        config.Env.push(rest);
        break;
      default:
        throw new Error(`not known: ${line}`);
    }
  }
  return config;
}

/** Packs a root as an image of one layer, in the format of `docker save`. @returns its path */
export async function asImage(root: Root, config: ImageConfig, name: string): Promise<string> {
  const folder = dirname(root.path);
  const layer = join(folder, 'layer.tar');
  await execa('tar', [
    ...[
      '--create',
      '--file',
      layer,
      '--numeric-owner',
      '--one-file-system',
      '--directory',
      root.path,
    ],
    ...['--exclude=./dev/*', '--exclude=./proc/*', '--exclude=./etc/resolv.conf', '.'],
  ]);
  const { stdout } = await execa('sha256sum', [layer]);
  const diffId = stdout.split(' ')[0] ?? '';
  const image = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
  };
  const text = JSON.stringify(image);
  const configFile = `${createHash('sha256').update(text).digest('hex')}.json`;
  await writeFile(join(folder, configFile), text);
  await writeFile(
    join(folder, 'manifest.json'),
    JSON.stringify([{ Config: configFile, RepoTags: [name], Layers: ['layer.tar'] }]),
  );
  const partial = join(folder, 'image.tar.partial');
  await execa('tar', [
    '--create',
    '--file',
    partial,
    '--directory',
    folder,
    'manifest.json',
    configFile,
    'layer.tar',
  ]);
  await rename(partial, join(folder, 'image.tar'));
  return join(folder, 'image.tar');
}
