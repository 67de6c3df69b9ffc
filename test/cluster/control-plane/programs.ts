import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { cached, keyOf } from '../cache.ts';
import { findGo } from './go.ts';

const MODULE = join(import.meta.dirname, 'go');

/** Programs of Kubernetes and etcd, as paths. */
export type Program =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet';

/** Builds what go/go.mod names, once: some minutes, and some seconds where Go's own build cache has it. */
export async function buildPrograms(): Promise<(program: Program) => string> {
  const goMod = await readFile(join(MODULE, 'go.mod'), 'utf8');
  const goSum = await readFile(join(MODULE, 'go.sum'));
  const folder = await cached('kubernetes', keyOf(process.arch, goMod, goSum), (into) => build(goMod, into));
  return (program) => join(folder, program);
}

async function build(goMod: string, folder: string): Promise<void> {
  const [, goVersion = ''] = /^go (\S+)$/m.exec(goMod) ?? [];
  const [, version = ''] = /k8s\.io\/kubernetes (v\S+)/.exec(goMod) ?? [];
  const go = await findGo(goVersion);
  const stamped = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
  const ldflags = ['-s', '-w', ...stamped.map((name) => `-X ${name}.gitVersion=${version}`)];
  await execa(
    go.command,
    ['build', '-trimpath', '-mod=readonly', '-ldflags', ldflags.join(' '), '-o', folder, 'tool'],
    {
      cwd: MODULE,
      env: { ...go.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
    },
  );
  // Go names a program after its package.
  await rename(join(folder, 'server'), join(folder, 'etcd'));
}
