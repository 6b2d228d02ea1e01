/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture may and may not do here, said in one line with the cure. */
#include "tools/capture/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/num.h"

#define BIT(cap) (UINT64_C(1) << (cap))

/* Inode of the machine's own PID namespace: PROC_PID_INIT_INO of the kernel's proc_ns.h. */
#define PID_INIT_INO 0xEFFFFFFC

static const char btf_path[] = "/sys/kernel/btf/vmlinux";

static bool get_caps(struct __user_cap_data_struct d[2])
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &h, d) == 0;
}

static uint64_t effective_caps(void)
{
	struct __user_cap_data_struct d[2] = {{0}};

	if (!get_caps(d))
		return 0;
	return (uint64_t)d[1].effective << 32 | d[0].effective;
}

/* In another namespace /proc, the side band and the samples number processes differently. */
static int check_pid_namespace(struct err *e)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == PID_INIT_INO)
		return 0;
	return err_set(e, EPERM,
		       "this PID namespace hides the machine's processes: run it in the "
		       "machine's own (docker run --pid=host, Kubernetes hostPID: true)");
}

bool privilege_for_bpf(void)
{
	const uint64_t both = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	uint64_t have = effective_caps();

	return have & BIT(CAP_SYS_ADMIN) || (have & both) == both;
}

int privilege_check(struct err *e)
{
	uint64_t have = effective_caps();
	bool bpf = have & BIT(CAP_BPF), perfmon = have & BIT(CAP_PERFMON);

	if (privilege_for_bpf())
		return check_pid_namespace(e);
	return err_set(
		e, EPERM,
		"needs CAP_BPF and CAP_PERFMON (missing: %s%s%s) for more than your own "
		"processes (-- COMMAND, -p PID); run as root or: setcap " PRIVILEGE_CAPS
		"+ep $(command -v prof-capture)",
		bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : ", ",
		perfmon ? "" : "CAP_PERFMON");
}

static bool read_line(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	if (n < 0)
		return false;
	out[n] = 0;
	out[strcspn(out, "\n")] = 0;
	return true;
}

int privilege_explain_load(int code, struct err *e)
{
	char text[256];

	if (access(btf_path, R_OK) < 0)
		return err_set(e, code, "this kernel has no type information (%s): %s",
			       btf_path, "it must be built with CONFIG_DEBUG_INFO_BTF");
	if (read_line("/sys/kernel/security/lockdown", text, sizeof(text)) &&
	    strstr(text, "[confidentiality]"))
		return err_set(
			e, code,
			"kernel lockdown \"confidentiality\" forbids BPF to read kernel "
			"memory; capture cannot run");
	if (code == EPERM)
		return err_set(
			e, code,
			"the kernel refuses BPF programs although the capabilities are "
			"there: a seccomp filter or security policy (container?)");
	if (code == E2BIG)
		return err_set(e, code,
			       "this kernel's verifier finds the sampler too long");
	return err_errno(e, code,
			 "cannot load the BPF programs (Linux 6.1 or later is needed)");
}

int privilege_explain_perf(int code, struct err *e)
{
	char level[32];
	uint64_t n;

	if (code != EACCES && code != EPERM)
		return err_errno(e, code, "cannot open a cpu-clock event");
	if (!read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)))
		snprintf(level, sizeof(level), "?");
	/* some distributions' kernels know levels above 2 */
	if (num_parse_u64(level, &n) == 0 && n > 2)
		return err_set(e, code,
			       "perf events are blocked: kernel.perf_event_paranoid=%s; "
			       "as root: sysctl kernel.perf_event_paranoid=2",
			       level);
	return err_set(e, code,
		       "perf events are blocked: kernel.perf_event_paranoid=%s or a "
		       "seccomp filter (container?)",
		       level);
}

/* Kernel addresses read as 0 where they are not for us. */
static bool kernel_is_hidden(void)
{
	char line[64];

	return !read_line("/proc/kallsyms", line, sizeof(line)) ||
	       strspn(line, "0") >= 2 * sizeof(long);
}

bool privilege_tell_missing(const struct cli *cli, bool own)
{
	const uint64_t admin = BIT(CAP_SYS_ADMIN);
	uint64_t have = effective_caps();
	bool hidden = !(have & BIT(CAP_SYSLOG)) && kernel_is_hidden();

	if (!own && !(have & BIT(CAP_SYS_PTRACE)))
		cli_note(cli, "without CAP_SYS_PTRACE: executables, code and environment "
			      "of other users' processes may stay unknown");
	if (!own && !(have & (BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_DAC_OVERRIDE))))
		cli_note(cli,
			 "without CAP_DAC_READ_SEARCH: stacks end in files that only "
			 "their owner may read");
	if (!(have & (BIT(CAP_CHECKPOINT_RESTORE) | admin)))
		cli_note(cli, "without CAP_CHECKPOINT_RESTORE: stacks end in files that "
			      "were deleted or replaced while they run");
	if (hidden)
		cli_note(cli, "without CAP_SYSLOG: kernel functions have no names "
			      "(or needs kernel.kptr_restrict=0 and "
			      "kernel.perf_event_paranoid=1)");
	return hidden;
}

void privilege_drop(bool writes_files, bool probes)
{
	const uint64_t write = BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
	const uint64_t keep = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) |
			      BIT(CAP_SYSLOG) | BIT(CAP_CHECKPOINT_RESTORE) |
			      BIT(CAP_DAC_READ_SEARCH) | (writes_files ? write : 0) |
			      (probes ? BIT(CAP_SYS_ADMIN) : 0);
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{0}};

	if (!get_caps(d))
		return;
	/* a kernel before 5.8 has neither of the first two: there all hangs on this one */
	if (!(d[1].effective & (BIT(CAP_BPF) >> 32)))
		return;
	d[0].permitted &= (uint32_t)keep;
	d[1].permitted &= keep >> 32;
	d[0].effective = d[0].permitted;
	d[1].effective = d[1].permitted;
	d[0].inheritable = d[1].inheritable = 0;
	syscall(SYS_capset, &h, d);
}
