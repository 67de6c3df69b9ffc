import { refuse } from '../api/reasons.ts';
import { type NodeError, nodeError } from './errors.ts';
import type { JobKey } from './job.ts';

/** Where a node keeps its jobs: a tmpfs, so that after a reboot a job is not found, which is the truth. */
export const JOBS_FOLDER = '/run/stowage/jobs';

/** Part of a path on the node and of a Volume's status, so nothing but these characters. */
const NAME = /^[a-z0-9][a-z0-9-]{0,99}$/;

/** The folder of a job on its node. @throws RangeError for a key that is no plain name, or that of its subject's lock */
export function jobFolder(key: JobKey): string {
  if (key.id === 'lock') throw new RangeError(`not a job's name: ${JSON.stringify(key.id)}`);
  return `${subjectFolder(key.subject)}/${plainName(key.id)}`;
}

/** The folder of a subject's jobs on its node. @throws RangeError for a subject that is no plain name */
export function subjectFolder(subject: string): string {
  return `${JOBS_FOLDER}/${plainName(subject)}`;
}

function plainName(name: string): string {
  if (!NAME.test(name)) {
    throw new RangeError(`not a job's name: ${JSON.stringify(name)}`);
  }
  return name;
}

/**
 * For scripts on a node that read or write jobs, ENDing the answer where the folder is somebody else's: whoever owns it
 * could plant a job's result, and jobs that can't be read are not "not found". Only root writes in the folder above it,
 * so nobody takes its place.
 */
export const ownJobs = (end: string) => `jobs=${JOBS_FOLDER}
if [ -e "$jobs" ] || [ -h "$jobs" ] || { [ -e "\${jobs%/*}" ] && [ ! -x "\${jobs%/*}" ]; }; then
  if [ ! -d "$jobs" ] || [ -h "$jobs" ] || [ ! -O "$jobs" ]; then
    echo "foreign $(printf %s "$(id -un)" | base64 -w0) $(ls -ld "\${jobs%/*}" "$jobs" 2>&1 | base64 -w0)"
    echo ${end}
    exit 0
  fi
fi
`;

/** For a script that writes jobs, after `ownJobs`. */
export const makeJobs = (end: string) => `if [ ! -e "$jobs" ]; then
  set -- install -d -m 0700 -o "$(id -un)" "$jobs"
  errors=$($as "$@" 2>&1) || {
    why=$(printf '%s\\n' "$errors" | not_run "$?" "$@")
    case $why in
      denied*) echo "$why $(printf %s "$*" | base64 -w0) $(printf %s "$errors" | base64 -w0)"; echo ${end}; exit 0 ;;
    esac
    printf '%s\\n' "$errors" >&2
    exit 1
  }
fi
`;

/** The folder of jobs belongs to another user than the one that is logged in. */
export class ForeignJobs extends Error {
  override readonly name = 'ForeignJobs';

  readonly user: string;
  readonly found: string;

  constructor(user: string, found: string) {
    super(`${JOBS_FOLDER} is not a folder of ${user}`);
    this.user = user;
    this.found = found;
  }

  on(node: string): NodeError {
    const found = this.found.trim().replaceAll('\n', '; ');
    const why = refuse('JobsFolderForeign', { node, folder: JOBS_FOLDER, user: this.user, found });
    return nodeError('refused', node, why, this);
  }
}
