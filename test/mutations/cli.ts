import { type Mutation, mutationsOf } from './mutation.ts';

/** Commands: consent, output, and writes. */
export const cli: readonly Mutation[] = [
  ...mutationsOf('src/cli/lib/prompts/confirm.ts', [
    {
      id: 'script-needs-no-consent',
      invariant: 6,
      breaks: 'A script destroys data without --yes.',
      function: 'confirm',
      find: 'if (!isInteractive(io)) {',
      replace: "if (!isInteractive(io)) return;\n  if (question === '') {",
    },
    {
      id: 'answer-no-ignored',
      invariant: 6,
      breaks: 'The answer no destroys data all the same.',
      function: 'confirm',
      find: '!(await ask(question))',
      replace: '(await ask(question)) === undefined',
    },
  ]),
  ...mutationsOf('src/cli/volume/delete.ts', [
    {
      id: 'recreated-volume-deleted',
      invariant: 6,
      breaks: 'A Volume is deleted that took the name after it was looked at.',
      function: 'deleteEach',
      find: '{ uid, signal: io.signal }',
      replace: '{ signal: io.signal }',
    },
    {
      id: 'claimed-volume-deleted',
      invariant: 6,
      breaks: 'A Volume is deleted that was claimed while the question was there.',
      function: 'deleteEach',
      find: 'if (asked) await deletableVolume(name, uid, io, client);',
      replace: '',
    },
    {
      id: 'replaced-volume-deleted',
      invariant: 6,
      breaks: 'A Volume is deleted that took the name of a selected one.',
      function: 'deletableVolume',
      find: 'uid !== undefined && volume.metadata.uid !== uid',
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/cli/lib/objects/choose.ts', [
    {
      id: 'empty-selector-deletes-all',
      invariant: 6,
      breaks: 'A script with an unset variable deletes every Volume or class.',
      function: 'requireOneWay',
      find: "selector?.trim() === ''",
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/cli/lib/objects/delete-classes.ts', [
    {
      id: 'needed-class-deleted',
      invariant: 6,
      breaks: 'A class is deleted that something came to need while the question was there.',
      function: 'deleteClasses',
      find: 'deletable = await unneeded(deletable, await kind.readUses(client, io));',
      replace: '',
    },
    {
      id: 'replaced-class-deleted',
      invariant: 6,
      breaks: 'A class is deleted that took the name of another one.',
      function: 'deleteClasses',
      find: '{ uid, signal }',
      replace: '{ signal }',
    },
    {
      id: 'foreign-class-deleted',
      invariant: 6,
      breaks: 'With --all, classes of other provisioners are deleted.',
      function: 'chosen',
      find: 'served === true',
      replace: 'true',
    },
  ]),
  ...mutationsOf('src/cli/top/figures-of.ts', [
    {
      id: 'figures-of-recreated-claim',
      invariant: 10,
      breaks: 'A recreated claim gets the figures of an earlier one.',
      function: 'figuresOf',
      find: ' && isOlder(claim, pod)',
      replace: '',
    },
  ]),
  ...mutationsOf('src/cli/top/consumers.ts', [
    {
      id: 'figures-by-claim-name',
      invariant: 10,
      breaks: 'A Volume gets the figures of another claim with the name of its claim.',
      function: 'claimOf',
      find: ' || bound.metadata.uid !== uid',
      replace: '',
    },
  ]),
  ...mutationsOf('src/cli/top/read-stats.ts', [
    {
      id: 'summary-of-any-size',
      invariant: 12,
      breaks: 'A node fills the memory of a command.',
      function: 'readStats',
      find: 'maxBytes: MAX_BYTES,',
      replace: 'maxBytes: MAX_BYTES * 100,',
    },
  ]),
  ...mutationsOf('src/model/node-health.ts', [
    {
      id: 'age-of-a-silent-node-by-own-clock',
      invariant: 3,
      breaks: 'A clock that is ahead makes a node count as NotReady for long.',
      function: 'notReadyAgeBy',
      find: 'client.serverTime()',
      replace: 'Date.now()',
    },
  ]),
  ...mutationsOf('src/model/node-death.ts', [
    {
      id: 'ready-node-force-detached',
      invariant: 3,
      breaks: 'A node that is tainted and Ready counts as dead.',
      function: 'nodeSigns',
      find: 'isOff(node)',
      replace: 'node.spec?.taints !== undefined',
    },
    {
      id: 'shared-volume-force-detached',
      invariant: 2,
      breaks: 'A shared volume is force-detached from a node that is only silent.',
      function: 'deathDeadline',
      find: 'requiresFencing ? Infinity : ',
      replace: '',
    },
    {
      id: 'shared-volume-of-gone-node',
      invariant: 2,
      breaks: 'A shared volume is force-detached from a node whose Node object is gone.',
      function: 'nodeDeath',
      find: "rule.requiresFencing ? undefined : 'node-gone'",
      replace: "'node-gone'",
    },
    {
      id: 'silent-node-force-detached-early',
      invariant: 3,
      breaks:
        'A volume is force-detached before its node was NotReady as long as the daemon waits.',
      function: 'judgeNode',
      find: 'Math.max(maxWaitMs, MAX_WAIT_FOR_UNMOUNT)',
      replace: '0',
    },
  ]),
  ...mutationsOf('src/cli/volume/detach/force.ts', [
    {
      id: 'force-detach-of-recreated-volume',
      invariant: 3,
      breaks: 'A Volume that was made anew is force-detached.',
      function: 'forceDetach',
      find: 'current.metadata.uid !== uid',
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/cli/lib/output/printable.ts', [
    {
      id: 'terminal-steered',
      invariant: 12,
      breaks: 'What a tenant wrote steers the terminal of an administrator.',
      function: 'printable',
      find: "/[\\n\\t]/.test(character) ? character : '\\u{fffd}'",
      replace: 'character',
    },
  ]),
  ...mutationsOf('src/cli/lib/output/private-file.ts', [
    {
      id: 'private-file-readable',
      invariant: 8,
      breaks: 'A file with credentials can be read by all.',
      function: 'writePrivateFile',
      find: 'mode: 0o600, ',
      replace: '',
    },
  ]),
  ...mutationsOf('src/cli/node/check/host-key/trust.ts', [
    {
      id: 'host-key-under-address',
      invariant: 8,
      breaks: "A host key is stored under the node's address.",
      function: 'trustHostKey',
      find: `\`\${node} \${decision.add.type}`,
      replace: `\`\${host} \${decision.add.type}`,
    },
  ]),
  ...mutationsOf('src/cli/install/crd-in-use.ts', [
    {
      id: 'definitions-removed-with-objects',
      invariant: 6,
      breaks: 'Uninstalling removes all objects of a kind.',
      function: 'refuseHeld',
      find: 'if (found.length === 0) return;',
      replace: 'if (found.length < 1000) return;',
    },
  ]),
];
