import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import type { KubeNode } from '../../../src/api/core.ts';
import { NODES } from '../../../src/api/resources.ts';
import { connect } from '../../../src/kube/connect.ts';
import { quote } from '../../../src/nodes/quote.ts';
import { until } from '../../support/until.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { IMAGE } from '../kubelet/image.ts';
import { isReady, kubeletUser } from '../kubelet/kubelet.ts';
import { ADDRESS } from './image.ts';
import { IMAGE_FILE, NETWORK_PLUGINS, programsDisk } from './programs.ts';
import type { Vm } from './vm.ts';

const DISK = 'programs';
const PROGRAMS = '/opt/programs';
/** Address by which qemu's user network reaches the loopback of this machine. */
const THIS_MACHINE = '10.0.2.2';
/** A name in the API server's certificate. */
const API_SERVER = 'kubernetes.default.svc';
/** Timeout in ms: the VM is emulated, and the machine may be busy. */
const READY_WITHIN = 600_000;

/** Port and only client of a kubelet. */
export interface KubeletServer {
  port: number;
  /** The client's certificate, or that of its CA, in PEM. */
  clientCa: string;
}

/** Returns the disk that a VM needs as one of startVm's `disks` to become a node. */
export const programs = async () => ({ [DISK]: { file: await programsDisk() } });

/**
 * Makes a VM the node of its name, and waits until that is Ready. containerd and a kubelet are
 * units of systemd, as on any node, that start on each boot. The control plane must know
 * kubeletUser.
 * @param server without it, no client may connect to the kubelet
 */
export async function becomeNode(
  vm: Vm,
  controlPlane: Pick<ControlPlane, 'kubeconfig' | 'kubeconfigOf'>,
  server?: KubeletServer,
): Promise<void> {
  const [user = ''] = Object.keys(kubeletUser(vm.name));
  const kubeconfig = fromWithin(await readFile(controlPlane.kubeconfigOf(user), 'utf8'));
  const files = {
    ...FILES,
    [KUBECONFIG]: kubeconfig,
    [KUBELET_CONFIG]: JSON.stringify(configuration(server)),
    ...(server !== undefined && { [CLIENT_CA]: server.clientCa }),
    [MOUNT]: mount(vm.disk(DISK)),
  };
  const write = ([path, text]: [string, string]) =>
    `printf %s ${quote(text)} | install -D -m 600 /dev/stdin ${path}\n`;
  await vm.run(['sh', '-e'], { input: Object.entries(files).map(write).join('') });
  try {
    await vm.run(['systemctl', 'daemon-reload']);
    await vm.run(['systemctl', 'enable', '--now', 'containerd.service']);
    await vm.run([
      `${PROGRAMS}/ctr`,
      '-n',
      'k8s.io',
      'images',
      'import',
      `${PROGRAMS}/${IMAGE_FILE}`,
    ]);
    await vm.run(['systemctl', 'enable', '--now', 'kubelet.service']);
    const { client } = await connect({ kubeconfig: controlPlane.kubeconfig });
    await until(
      `node ${vm.name} Ready`,
      () =>
        client.get<KubeNode>(NODES, vm.name).then(
          (node) => (isReady(node) ? true : undefined),
          // The kubelet has not registered its Node yet.
          () => undefined,
        ),
      READY_WITHIN,
    );
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${message}; the journal of ${vm.name} ends:\n${await journal(vm)}`, {
      cause: error,
    });
  }
}

/** Returns the last output of containerd and the kubelet. */
export async function journal(vm: Vm): Promise<string> {
  const units = ['--unit=containerd', '--unit=kubelet'];
  return (await vm.run(['journalctl', ...units, '--lines=60', '--output=cat'], { reject: false }))
    .stdout;
}

function fromWithin(kubeconfig: string): string {
  const config = parse(kubeconfig) as { clusters: { cluster: Record<string, string> }[] };
  for (const { cluster } of config.clusters) {
    cluster.server = cluster.server?.replace('127.0.0.1', THIS_MACHINE) ?? '';
    cluster['tls-server-name'] = API_SERVER;
  }
  return stringify(config);
}

const UNITS = '/etc/systemd/system';
/** systemd requires this name for the mount point. */
const MOUNT = `${UNITS}/opt-programs.mount`;
const mount = (disk: string) => `[Mount]
What=${disk}
Where=${PROGRAMS}
Type=ext4
Options=ro
`;
const KUBECONFIG = '/etc/kubernetes/kubeconfig';
const KUBELET_CONFIG = '/etc/kubernetes/kubelet.json';
const CLIENT_CA = '/etc/kubernetes/client-ca.crt';
const SOCKET = '/run/containerd/containerd.sock';
const CRI = 'plugins."io.containerd.grpc.v1.cri"';

const FILES = {
  // As in Debian's package and runc's documentation.
  [`${UNITS}/containerd.service`]: `[Unit]
RequiresMountsFor=${PROGRAMS}
[Service]
Type=notify
ExecStartPre=/sbin/modprobe overlay
ExecStart=${PROGRAMS}/containerd
Environment=PATH=${PROGRAMS}:/usr/sbin:/usr/bin
Delegate=yes
KillMode=process
Restart=always
[Install]
WantedBy=multi-user.target
`,
  [`${UNITS}/kubelet.service`]: `[Unit]
Requires=containerd.service
After=containerd.service
[Service]
ExecStart=${PROGRAMS}/kubelet --config=${KUBELET_CONFIG} --kubeconfig=${KUBECONFIG} --node-ip=${ADDRESS}
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
`,
  // By default, PID 1 of a container ignores signals without a handler. A reboot would take 90 s.
  '/etc/systemd/system.conf.d/vm.conf': '[Manager]\nDefaultTimeoutStopSec=5s\n',
  '/etc/containerd/config.toml': `version = 2
[${CRI}]
sandbox_image = "${IMAGE}"
[${CRI}.cni]
bin_dir = "${PROGRAMS}/${NETWORK_PLUGINS}"
[${CRI}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${CRI}.containerd.runtimes.runc.options]
SystemdCgroup = true
`,
  // The kubelet copies this file into each container.
  '/etc/hosts': '127.0.0.1 localhost\n',
  '/etc/resolv.conf': '',
  // Pods use the network of the node.
  '/etc/cni/net.d/loopback.conf':
    '{ "cniVersion": "0.3.1", "name": "loopback", "type": "loopback" }',
};

const configuration = (server?: KubeletServer) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  containerRuntimeEndpoint: `unix://${SOCKET}`,
  cgroupDriver: 'systemd',
  resolvConf: '',
  healthzPort: 0,
  ...(server !== undefined && { port: server.port }),
  // No other client may connect.
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: false },
    ...(server !== undefined && { x509: { clientCAFile: CLIENT_CA } }),
  },
  authorization: { mode: 'AlwaysAllow' },
  // The VM has no iptables.
  makeIPTablesUtilChains: false,
});
