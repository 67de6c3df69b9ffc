import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { type Part, startPart } from '../part.ts';
import { IMAGE, makeImage } from './image.ts';

export interface Containerd extends Part {
  socket: string;
}

/** Directory of Debian's containernetworking-plugins. */
export const NETWORK_PLUGINS = '/usr/lib/cni';

/** Namespace of containerd with the kubelet's containers. Their cgroups have its name, too. */
export const NAMESPACE = 'k8s.io';

export const socketIn = (folder: string) => join(folder, 'containerd.sock');
/** Returns the directory in which runc keeps a directory for each container, named by its id. */
export const runcRootIn = (folder: string) => join(folder, 'runc');
/** Returns the directory in which containerd keeps a directory for each running container. */
export const tasksIn = (folder: string) =>
  join(folder, 'state/io.containerd.runtime.v2.task', NAMESPACE);

/**
 * Returns the directory of network plugins. A plugin's program has the name of the network's type.
 */
const programsIn = (network: string) => join(network, 'bin');

/**
 * Plugin for the network of pods with their own: loopback only. containerd requires an address
 * anyway (of RFC 5737, for documentation).
 */
const NOWHERE = `#!/bin/sh
case $CNI_COMMAND in
VERSION) echo '{"cniVersion":"0.3.1","supportedVersions":["0.3.1"]}' ;;
ADD) echo '{"cniVersion":"0.3.1","interfaces":[{"name":"eth0","sandbox":"'$CNI_NETNS'"}],"ips":[{"version":"4","interface":0,"address":"192.0.2.1/32"}]}' ;;
esac
`;

/** Starts a containerd that keeps all its files in `folder`, with the test image. */
export async function startContainerd(folder: string): Promise<Containerd> {
  const network = join(folder, 'network');
  await mkdir(network);
  const nowhere = { cniVersion: '0.3.1', name: 'nowhere', type: 'nowhere' };
  await writeFile(join(network, 'nowhere.conf'), JSON.stringify(nowhere));
  await mkdir(programsIn(network));
  await writeFile(join(programsIn(network), 'nowhere'), NOWHERE, { mode: 0o755 });
  await symlink(join(NETWORK_PLUGINS, 'loopback'), join(programsIn(network), 'loopback'));
  const config = join(folder, 'containerd.toml');
  await writeFile(config, configuration(folder, network));
  const socket = socketIn(folder);
  const ctr = (...args: string[]) =>
    execa('ctr', ['--address', socket, '--namespace', NAMESPACE, ...args]);
  const part = await startPart({
    name: 'containerd',
    argv: ['containerd', '--config', config],
    folder,
    ready: async () => (await ctr('version')).exitCode === 0,
  });
  try {
    const images = join(folder, 'image');
    await mkdir(images);
    await ctr('images', 'import', await makeImage(images));
  } catch (error) {
    await part.stop();
    throw error;
  }
  return { ...part, socket };
}

function configuration(folder: string, network: string): string {
  const text = JSON.stringify;
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = ${text(join(folder, 'root'))}
state = ${text(join(folder, 'state'))}

[grpc]
address = ${text(socketIn(folder))}

[plugins."io.containerd.internal.v1.opt"]
path = ${text(join(folder, 'opt'))}

[${cri}]
sandbox_image = ${text(IMAGE)}
# In a container that is not given CAP_SYS_RESOURCE nobody may ask for less than they have.
restrict_oom_score_adj = true

[${cri}.cni]
bin_dir = ${text(programsIn(network))}
conf_dir = ${text(network)}

[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
Root = ${text(runcRootIn(folder))}
`;
}
