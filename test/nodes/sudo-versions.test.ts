import { expect, test } from '@jest/globals';
import type { Step } from '../../src/nodes/job.ts';
import { unsupportedSudo } from '../../src/nodes/sudo.ts';
import { localJobs } from '../support/local-jobs.ts';

/** Beginnings of `sudo --version`. */
const SEEN = {
  '1.9.5p2': 'Sudo version 1.9.5p2\nSudoers policy plugin version 1.9.5p2',
  '1.9.13p3': 'Sudo version 1.9.13p3\nSudoers policy plugin version 1.9.13p3',
  'rs 0.2.5': 'sudo-rs 0.2.5',
  'rs 0.2.15': 'sudo-rs 0.2.15',
};
type Sudo = keyof typeof SEEN;

/** Lines of sudo-rs about each line of a file that it does not read. */
const CITED = Array.from({ length: 200 }, (_, line) =>
  [
    `/etc/sudoers.d/stowage:${line}:3: regular expressions are not supported`,
    '  /usr/bin/test ^-e /[a-z]+$, \\',
    '  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~',
  ].join('\n'),
).join('\n');
const SORRY = "I'm sorry stowage. I'm afraid I can't do that";
const NO_PROGRAM = "cannot execute '/usr/bin/refused': No such file or directory (os error 2)";

const REFUSALS: readonly (readonly [what: string, sudo: Sudo, printed: string, kept: string])[] = [
  ['no rule', '1.9.5p2', 'sudo: a password is required', 'sudo: a password is required'],
  ['no rule', '1.9.13p3', 'sudo: a password is required', 'sudo: a password is required'],
  ['no rule', 'rs 0.2.5', `sudo-rs: ${SORRY}`, `sudo-rs: ${SORRY}`],
  ['no rule', 'rs 0.2.15', `sudo: ${SORRY}`, `sudo: ${SORRY}`],
  ['rules with regular expressions', 'rs 0.2.15', `${CITED}\nsudo: ${SORRY}`, `sudo: ${SORRY}`],
  [
    'a rule with a password',
    'rs 0.2.5',
    'sudo-rs: interactive authentication is required',
    'sudo-rs: interactive authentication is required',
  ],
  // `sudo -l` lists the program as allowed.
  ['no such program', 'rs 0.2.5', `sudo-rs: ${NO_PROGRAM}`, `sudo-rs: ${NO_PROGRAM}`],
  ['no such program', 'rs 0.2.15', `sudo: ${NO_PROGRAM}`, `sudo: ${NO_PROGRAM}`],
  [
    'no setuid bit',
    'rs 0.2.5',
    'sudo-rs: sudo must be owned by uid 0 and have the setuid bit set',
    'sudo-rs: sudo must be owned by uid 0 and have the setuid bit set',
  ],
];

/** Prints the version, lists every program as allowed, and refuses to run the program `refused`. */
const standIn = (sudo: Sudo, printed: string) => `if [ "$1" = --version ]; then
cat <<'SUDO'
${SEEN[sudo]}
SUDO
exit
fi
shift; [ "$1" != -l ] || exit 0; shift
[ "$1" != refused ] || {
cat >&2 <<'SUDO'
${printed}
SUDO
exit 1; }
exec "$@"`;

const step = (...argv: string[]): Step => ({ name: `run ${argv[0]}`, argv, preconditions: [] });

test.each(REFUSALS)(
  'a refusal is never the status of the program: %s, sudo %s',
  async (_, sudo, printed, kept) => {
    const programs = { sudo: standIn(sudo, printed), id: 'echo stowage', refused: 'true' };
    const { executor, remove } = await localJobs(programs, 1000);
    const code = sudo === '1.9.13p3' ? 'SudoRefused' : 'SudoUnsupported';
    const refused = {
      code: 'refused',
      message: expect.stringContaining(kept),
      hint: expect.stringContaining(
        code === 'SudoRefused' ? 'stowage print sudoers' : 'sudo 1.9.10 or later',
      ),
      reason: {
        code,
        parameters: expect.objectContaining({
          ...{ node: 'n1', user: 'stowage', command: 'refused -e /none' },
          ...(code === 'SudoUnsupported' && {
            sudo: expect.stringMatching(/^sudo(-rs)? [\dp.]+$/),
          }),
        }),
      },
    };
    const argv = ['refused', '-e', '/none'];
    const submit = (id: string, ...steps: Step[]) =>
      executor.submit('n1', { key: { subject: 'v1', id }, steps }, 5000);
    try {
      await expect(executor.observe('n1', [{ name: 'a', argv }])).rejects.toMatchObject(refused);
      await expect(submit('a', step(...argv))).rejects.toMatchObject(refused);
      const guard = { argv, expect: { exit: 1 }, refusal: 'other' };
      await expect(submit('b', { ...step('true'), preconditions: [guard] })).rejects.toMatchObject(
        refused,
      );
      const later = await submit('c', step('true'), step(...argv));
      expect(later).toMatchObject({
        state: 'guarded',
        refusal: expect.stringContaining(kept),
        reason: { code, parameters: expect.objectContaining({ node: 'n1', user: 'stowage' }) },
      });
      if (later.state !== 'guarded') throw new Error(later.state);
      expect(later.refusal.length).toBeLessThan(1500);
      expect(later.reason?.parameters.sudo).toBe(
        code === 'SudoUnsupported'
          ? unsupportedSudo(SEEN[sudo].split('\n')[0]?.replaceAll(' ', '_') ?? '')
          : undefined,
      );
    } finally {
      await remove();
    }
  },
);

test.each<[version: string, unsupported: string | undefined]>([
  ['Sudo_version_1.8.31', 'sudo 1.8.31'],
  ['Sudo_version_1.9.5p2', 'sudo 1.9.5p2'],
  ['Sudo_version_1.9.9', 'sudo 1.9.9'],
  ['Sudo_version_1.9', 'sudo 1.9'],
  ['Sudo_version_1.9.10', undefined],
  ['Sudo_version_1.9.13p3', undefined],
  ['Sudo_version_1.10.0', undefined],
  ['Sudo_version_2.0', undefined],
  ['sudo-rs_0.2.5', 'sudo-rs 0.2.5'],
  ['sudo-rs_0.2.8-1ubuntu5', 'sudo-rs 0.2.8-1ubuntu5'],
  [`sudo-rs_0.2.8\u001b[2J`, 'sudo-rs 0.2.8'],
  [`sudo-rs_${'9'.repeat(2000)}`, `sudo-rs ${'9'.repeat(50)}`],
  [`Sudo_version_1.9.5${'p'.repeat(2000)}`, `sudo 1.9.5${'p'.repeat(20)}`],
  ['doas_6.8', undefined],
  ['', undefined],
])('%s: unsupported is %s', (version, unsupported) => {
  expect(unsupportedSudo(version)).toBe(unsupported);
});
