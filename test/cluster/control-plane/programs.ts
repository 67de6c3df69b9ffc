import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { cached, keyOf } from '../cache.ts';
import { findGo } from './go.ts';

/** Programs of Kubernetes and etcd, as paths. */
export type Program =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet';

/**
 * A set of Go programs that are built together. Each set needs other versions of the same modules.
 */
interface ProgramSet {
  /** Name in the cache. */
  name: string;
  /** Directory next to this file, with a go.mod that lists the programs as tools. */
  folder: string;
  /** Module whose version the programs report, and the variables that hold the version. */
  module: string;
  stamped: readonly string[];
}

const KUBERNETES: ProgramSet = {
  name: 'kubernetes',
  folder: 'go',
  module: 'k8s.io/kubernetes',
  stamped: ['k8s.io/component-base/version.gitVersion', 'k8s.io/client-go/pkg/version.gitVersion'],
};

const SNAPSHOT_CONTROLLER: ProgramSet = {
  name: 'snapshot-controller',
  folder: 'go-snapshot-controller',
  module: 'github.com/kubernetes-csi/external-snapshotter/v8',
  stamped: ['main.version'],
};

const LOCAL_PATH_PROVISIONER: ProgramSet = {
  name: 'local-path-provisioner',
  folder: 'go-local-path-provisioner',
  module: 'github.com/rancher/local-path-provisioner',
  stamped: ['main.VERSION'],
};

const CSI_DIRECTORIES: ProgramSet = {
  name: 'csi-directories',
  folder: 'go-csi-directories',
  module: 'github.com/kubernetes-csi/external-provisioner/v6',
  stamped: ['main.version'],
};

/**
 * Builds the tools of go/go.mod once. Takes some minutes, or some seconds with a warm Go build
 * cache.
 */
export async function buildPrograms(): Promise<(program: Program) => string> {
  const folder = await built(KUBERNETES, async (into) => {
    // Go names a program after its package.
    await rename(join(into, 'server'), join(into, 'etcd'));
  });
  return (program) => join(folder, program);
}

/** Builds the standard snapshot-controller once, in about two minutes. @returns its path */
export async function buildSnapshotController(): Promise<string> {
  return join(await built(SNAPSHOT_CONTROLLER), 'snapshot-controller');
}

/** Builds Rancher's local-path-provisioner once, in about a minute. @returns its path */
export async function buildLocalPathProvisioner(): Promise<string> {
  return join(await built(LOCAL_PATH_PROVISIONER), 'local-path-provisioner');
}

/** Builds CSI's external-provisioner and a driver for it once, in some minutes. */
export async function buildCsiDirectories(): Promise<
  (program: 'csi-provisioner' | 'csi-directories') => string
> {
  const folder = await built(CSI_DIRECTORIES);
  return (program) => join(folder, program);
}

async function built(
  set: ProgramSet,
  after: (folder: string) => Promise<void> = async () => {},
): Promise<string> {
  const module = join(import.meta.dirname, set.folder);
  const goMod = await readFile(join(module, 'go.mod'), 'utf8');
  const sources = (await readdir(module)).filter((name) => name !== 'go.mod').sort();
  const texts = await Promise.all(sources.map((name) => readFile(join(module, name))));
  return cached(set.name, keyOf(process.arch, goMod, ...texts), async (into) => {
    await build(set, module, goMod, into);
    await after(into);
  });
}

async function build(
  { module, stamped }: ProgramSet,
  cwd: string,
  goMod: string,
  folder: string,
): Promise<void> {
  const [, goVersion = ''] = /^go (\S+)$/m.exec(goMod) ?? [];
  const version = goMod.split(/\s+/).find((_, index, words) => words[index - 1] === module) ?? '';
  const go = await findGo(goVersion);
  const ldflags = ['-s', '-w', ...stamped.map((name) => `-X ${name}=${version}`)];
  await execa(
    go.command,
    ['build', '-trimpath', '-mod=readonly', '-ldflags', ldflags.join(' '), '-o', folder, 'tool'],
    {
      cwd,
      env: { ...go.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
    },
  );
}
