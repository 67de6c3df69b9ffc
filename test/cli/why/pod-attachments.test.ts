import { describe } from '@jest/globals';
import { quote } from '../../../src/nodes/quote.ts';
import { ago } from '../../support/cluster-objects.ts';
import { ready } from '../../support/volumes.ts';
import {
  backed,
  condition,
  heldOnN2,
  merge,
  on,
  pausedNode,
  pod,
  shared,
  testRows,
  volume,
} from './pod-objects.ts';

const taintN2 = "kubectl taint node n2 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'";

describe('a pod is held up by', () => {
  testRows([
    [
      'a read-only volume that is not attached yet',
      heldOnN2({ readOnly: true }),
      { holdup: 'Volume data1 is not attached to node n1 yet' },
    ],
    [
      'the cause that holds its Volume up',
      merge(pod(), backed(volume([], { status: ready('Unknown', 'NodeUnreachable', 'no route') }))),
      {
        holdup:
          'Volume data1: there is no node n1 in this cluster, and none is reached under that name: no route',
      },
    ],
    [
      'a disabled attachment controller',
      merge(pod(), backed(volume([], { status: ready('Unknown', 'AttachmentDisabled', 'off') }))),
      { holdup: 'Volume data1: off', fix: "stowage watch --controllers '*'" },
    ],
    [
      'an attachment to another node',
      heldOnN2({ pods: ['db/old', 'x/y'], message: 'mounted' }),
      {
        holdup:
          'Volume data1 cannot be attached to node n1: it is Attached on node n2, where these pods need it: db/old, x/y (mounted), and it can be on one node at a time',
        since: ago(120),
        fix: 'kubectl delete pod -n db old\nkubectl delete pod -n x y',
      },
    ],
    [
      'a detach from another node',
      heldOnN2({ state: 'Detaching', pods: [] }),
      { holdup: 'it is Detaching on node n2, and it can be on one node at a time' },
    ],
    [
      'an attachment to another node that is not Ready',
      heldOnN2(
        { pods: ['db/old'] },
        condition('node n2 has it (Attached), and is not Ready, and its pods are not deleted'),
      ),
      {
        holdup: 'it is Attached on node n2, where these pods need it: db/old, which is not Ready',
        since: ago(120),
        fix: taintN2,
      },
    ],
    [
      'an uncertain attachment to another node, of a Volume that is unreachable',
      merge(
        pod({ status: condition('Multi-Attach error for volume "data1" it is on node n2') }),
        backed(
          volume([on('n2', { state: 'Uncertain', pods: [], message: 'no route' })], {
            spec: shared,
            status: ready('Unknown', 'NodeUnreachable', 'node n2 is not reached'),
          }),
        ),
      ),
      {
        holdup: 'it is Uncertain on node n2, which counts as attached',
        since: ago(120),
        fix: 'ssh n2 true',
      },
    ],
    [
      'an uncertain attachment to another node that answered',
      heldOnN2({
        state: 'Uncertain',
        pods: [],
        message: '/dev/loop3 goes when its last user does',
      }),
      { holdup: 'goes when its last user does', since: ago(120), fix: 'ssh n2 losetup -l' },
    ],
    [
      'another node that cannot see whether the device is in use',
      heldOnN2({
        pods: [],
        message: 'whether a process has /dev/loop3 open cannot be seen, for the open files',
      }),
      { holdup: 'cannot be seen', since: ago(120), fix: 'ssh n2 ps axl' },
    ],
    [
      'a detach from another node whose job runs',
      heldOnN2({ state: 'Detaching', pods: [], message: 'its job is under way: write back' }),
      {
        holdup: 'it is Detaching on node n2 (its job is under way: write back)',
        since: ago(120),
        fix: 'ssh n2 ps axl',
      },
    ],
    [
      'a mount on another node',
      heldOnN2({
        pods: [],
        message:
          '/dev/loop3 is in use: mounted at /mnt. It is detached once. To end that, run on the node: umount /mnt',
      }),
      { holdup: 'is in use: mounted at /mnt', since: ago(120), fix: "ssh n2 'umount /mnt'" },
    ],
    [
      'a group of logical volumes that the pod made, on another node',
      heldOnN2({
        pods: [],
        message:
          "/dev/loop3 is in use: /dev/dm-0 (lvm, vg0-a) is made of it. It is detached once nothing uses it any more. To end that, run on the node: vgchange --activate n --select 'vg_uuid=a-b'",
      }),
      {
        holdup: '/dev/dm-0 (lvm, vg0-a) is made of it',
        since: ago(120),
        fix: `ssh n2 ${quote("vgchange --activate n --select 'vg_uuid=a-b'")}`,
      },
    ],
    [
      'a program on another node that has it open',
      heldOnN2({ pods: [], message: '/dev/loop3p1 is in use: a process has it open' }),
      { holdup: 'a process has it open', since: ago(120), fix: "ssh n2 'fuser -v /dev/loop3p1'" },
    ],
    [
      'a loop device of nobody knows whom on another node',
      heldOnN2({ pods: [], message: '/dev/loop3 is in use: another loop device is stacked on it' }),
      { holdup: 'is stacked on it', since: ago(120), fix: 'ssh n2 losetup -j /dev/loop3' },
    ],
    [
      'what the kubelet of another node ends',
      heldOnN2({
        pods: [],
        message:
          '/dev/loop3 is in use: mounted at /var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/data1. It is detached once nothing uses it any more. The kubelet of the node ends that once no container of the pod runs any more.',
      }),
      {
        holdup: 'mounted at',
        since: ago(120),
        fix: 'ssh n2 journalctl -u kubelet -n 50 --no-pager',
      },
    ],
    [
      'a file system on another node after umount -l',
      heldOnN2({
        pods: [],
        message:
          '/dev/loop3 is in use: its file system is mounted where no process shows it, after umount -l',
      }),
      { holdup: 'where no process shows it', since: ago(120), fix: 'ssh n2 findmnt -t nsfs' },
    ],
    [
      'a node that cannot attach the Volume',
      merge(pod({ spec: { nodeName: 'n3' } }), backed(volume([], { spec: shared }))),
      {
        holdup:
          'Volume data1 can be attached to one of the nodes n1, n2, and the pod is on node n3',
      },
    ],
    [
      'a paused node',
      merge(pod(), backed(volume()), { 'nodes/n1': pausedNode }),
      {
        holdup:
          'Volume data1 is not attached to node n1: Node n1 has the annotation stowage.dev/paused',
        fix: 'kubectl annotate node n1 stowage.dev/paused-',
      },
    ],
    [
      'an uncertain attachment to its node',
      merge(pod(), backed(volume([on('n1', { state: 'Uncertain', message: 'no route' })]))),
      {
        holdup: 'Volume data1: its attachment to node n1 is Uncertain, which counts as attached',
        since: ago(120),
        fix: 'ssh n1 true',
      },
    ],
    [
      'a persistent path that does not exist yet',
      merge(pod(), backed(volume([on('n1', { safeToMount: false })]))),
      { holdup: 'is Attached, but its persistent path is not there yet' },
    ],
    [
      'an attach that has not begun',
      merge(pod({ status: condition('data1: it is not attached yet') }), backed(volume())),
      {
        holdup: 'Volume data1 is not attached to node n1 yet: data1: it is not attached yet',
        since: ago(30),
        fix: 'stowage watch',
      },
    ],
    [
      'what only its condition reports, also of a running pod',
      merge(
        pod({ status: { ...condition('scratch: gone'), phase: 'Running' } }),
        backed(volume([on('n1')])),
      ),
      { holdup: 'scratch: gone', since: ago(30) },
    ],
    [
      'a Volume that it uses by its path',
      merge(
        pod({
          spec: {
            volumes: [
              { name: 'x', hostPath: { path: '/dev/disk/by-uuid/u', type: 'BlockDevice' } },
            ],
          },
        }),
        { 'volumes/data1': volume() },
      ),
      { holdup: 'Volume data1 is not attached to node n1 yet' },
    ],
  ]);
});
