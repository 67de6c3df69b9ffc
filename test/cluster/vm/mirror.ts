import { execa } from 'execa';

/** Returns this machine's mirror of Debian's packages. Throws if it has none. */
export async function debianMirror(): Promise<string> {
  const index = () =>
    execa('apt-get', [
      ...['indextargets', '--format', '$(LABEL) $(REPO_URI)'],
      ...['Created-By: Packages', 'Component: main'],
    ]);
  let { stdout } = await index();
  // apt lists only indexes that it has fetched.
  if (stdout === '') {
    await execa('apt-get', ['update']);
    ({ stdout } = await index());
  }
  const [, uri] = /^Debian (\S+)$/m.exec(stdout) ?? [];
  if (uri === undefined) throw new Error(`apt knows no archive of Debian:\n${stdout}`);
  return uri;
}
