/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads with stacks and shares that are known, for tests of what captures say.
 *
 *	workload split SECONDS           hot_major and hot_minor at 75 : 25 of the thread's CPU time;
 *	                                 prints what each really had, in ns
 *	workload three SECONDS           three ways at 60 : 30 : 10, each by a recursion of its own,
 *	                                 13, 7 and 2 deep; prints what each really had, in ns
 *	workload recurse SECONDS DEPTH   `descend` DEPTH times on the stack
 *	workload kernel SECONDS          reads /dev/zero from read_much
 *	workload burn MS                 short_burn for so long
 *	workload spawn N MS              N processes, one after another, that each exec `burn MS`
 *	workload chain N MS              one process that execs itself N times, burning in between
 *	workload become MS PROGRAM       burns, then execs PROGRAM, which burns too
 *	workload relay MS PROGRAM...     burns, then execs the first PROGRAM to relay to the others
 *	workload reuse MS PROGRAM...     each PROGRAM burns as a process of its own, all with the
 *	                                 same number; prints it
 *	workload orphan SECONDS          the main thread ends, another one burns
 *	workload jit SECONDS             runs a loop in anonymous memory
 *	workload signal SECONDS          burns in a handler that has a stack of its own
 *	workload clock SECONDS           asks the vDSO for the time
 *	workload mapped SECONDS N        has N more executable mappings, its own file's; burns
 *	workload library SECONDS FILE    after half of it loads a zlib and has it add up checksums
 *
 * Built with frame pointers. Time is the thread's CPU time, so a busy machine changes nothing.
 */
#include <dlfcn.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Who calls this is no leaf: those may do without a frame whatever the compiler is told. */
NOINLINE static void touch(void)
{
	__asm__ volatile("");
}

/*
 * Nothing but arithmetic, in the caller's own code; `add` makes that code unlike others, or the
 * compiler would keep only one of them. 60,000 rounds are some hundredth of a millisecond.
 */
#define SPIN(rounds, add)                                                                \
	do {                                                                             \
		uint64_t x_ = sink;                                                      \
		touch();                                                                 \
		for (int i_ = 0; i_ < (rounds); i_++)                                    \
			x_ = x_ * 6364136223846793005u + (add);                          \
		sink = x_;                                                               \
		touch();                                                                 \
	} while (0)

NOINLINE static void hot_major(int rounds)
{
	SPIN(rounds, 1);
}

NOINLINE static void hot_minor(int rounds)
{
	SPIN(rounds, 3);
}

/* Turns are of random length: regular ones could keep step with the profiler's clock. */
NOINLINE static void split(double seconds)
{
	int64_t major = 0, minor = 0, at = cpu_ns(), now,
		end = at + (int64_t)(seconds * 1e9);
	uint64_t random = 1;
	int rounds;

	while (at < end) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		rounds = 100000 + (random >> 33) % 2000000;
		if (major <= 3 * minor) {
			hot_major(rounds);
			now = cpu_ns();
			major += now - at;
		} else {
			hot_minor(rounds);
			now = cpu_ns();
			minor += now - at;
		}
		at = now;
	}
	printf("%lld %lld\n", (long long)major, (long long)minor);
}

/* One function for each way, so that its depth can be counted. */
#define WAY(name, add)                                                                   \
	NOINLINE static void name(int depth, int rounds)                                 \
	{                                                                                \
		if (depth > 1) {                                                         \
			name(depth - 1, rounds);                                         \
			sink++; /* no jump */                                            \
			return;                                                          \
		}                                                                        \
		SPIN(rounds, add);                                                       \
	}
WAY(sixty, 11)
WAY(thirty, 13)
WAY(ten, 17)

NOINLINE static void three(double seconds)
{
	static const struct {
		void (*go)(int depth, int rounds);
		int depth, share;
	} ways[] = {{sixty, 13, 60}, {thirty, 7, 30}, {ten, 2, 10}};
	int64_t had[3] = {0}, at = cpu_ns(), now, end = at + (int64_t)(seconds * 1e9);
	uint64_t random = 1;
	int i, next;

	while (at < end) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		/* whose turn it is: who has the least of its share */
		for (next = 0, i = 1; i < 3; i++) {
			if (had[i] * ways[next].share < had[next] * ways[i].share)
				next = i;
		}
		ways[next].go(ways[next].depth, 100000 + (random >> 33) % 2000000);
		now = cpu_ns();
		had[next] += now - at;
		at = now;
	}
	printf("%lld %lld %lld\n", (long long)had[0], (long long)had[1],
	       (long long)had[2]);
}

NOINLINE static void descend(int depth, int64_t end)
{
	if (depth > 1) {
		descend(depth - 1, end);
		sink++; /* not the last thing done: no jump instead of the call */
		return;
	}
	while (cpu_ns() < end)
		SPIN(60000, 7);
}

/* The system call is in this function: libc's has no frame, so its caller would be missed. */
NOINLINE static long read_much(int fd, void *buf, size_t n)
{
#ifdef __x86_64__
	long r;

	touch();
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "0"(SYS_read), "D"(fd), "S"(buf), "d"(n)
			 : "rcx", "r11", "memory");
	return r;
#else
	return syscall(SYS_read, fd, buf, n);
#endif
}

NOINLINE static void kernel_load(double seconds)
{
	static char buf[1 << 20];
	int64_t end = cpu_ns() + (int64_t)(seconds * 1e9);
	int fd = open("/dev/zero", O_RDONLY);

	while (fd >= 0 && cpu_ns() < end)
		sink += read_much(fd, buf, sizeof(buf));
}

NOINLINE static void short_burn(int64_t ns)
{
	int64_t end = cpu_ns() + ns;

	while (cpu_ns() < end)
		SPIN(60000, 9);
}

static int spawn(char *self, int n, char *ms)
{
	char *args[] = {self, (char *)"burn", ms, NULL};
	pid_t pid;

	for (; n > 0; n--) {
		pid = fork();
		if (pid == 0) {
			execv(self, args);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

static int chain(char *self, int n, char *ms)
{
	char left[16];
	char *args[] = {self, (char *)"chain", left, ms, NULL};

	short_burn(atoll(ms) * 1000000);
	if (n <= 0)
		return 0;
	snprintf(left, sizeof(left), "%d", n - 1);
	execv(self, args);
	return 1;
}

static int become(char *ms, char *program)
{
	char *args[] = {program, (char *)"burn", ms, NULL};

	short_burn(atoll(ms) * 1000000);
	execv(program, args);
	return 1;
}

static int relay(char *ms, char **programs)
{
	char *args[16] = {programs[0], (char *)"relay", ms};
	int i;

	short_burn(atoll(ms) * 1000000);
	if (!programs[0])
		return 0;
	for (i = 1; programs[i] && i < 12; i++)
		args[2 + i] = programs[i];
	args[2 + i] = NULL;
	execv(programs[0], args);
	return 1;
}

/* A child with a number of our choice; 0: any. */
static pid_t fork_as(pid_t number)
{
	struct clone_args args = {.exit_signal = SIGCHLD};

	if (number) {
		args.set_tid = (uint64_t)(uintptr_t)&number;
		args.set_tid_size = 1;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int reuse(char *ms, char **programs)
{
	pid_t number = 0, pid;
	int i;

	for (i = 0; programs[i]; i++) {
		char *args[] = {programs[i], (char *)"burn", ms, NULL};

		pid = fork_as(number);
		if (pid == 0) {
			short_burn(20000000); /* as what its parent is */
			execv(programs[i], args);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
			perror("clone3");
			return 1;
		}
		number = pid;
	}
	printf("%d\n", (int)number);
	return 0;
}

static double orphan_seconds;

static void *orphan(void *arg)
{
	(void)arg;
	short_burn((int64_t)(orphan_seconds * 1e9));
	exit(0);
}

static int orphan_load(double seconds)
{
	pthread_t t;

	orphan_seconds = seconds;
	if (pthread_create(&t, NULL, orphan, NULL))
		return 1;
	pthread_exit(NULL);
}

/* Counts its argument down to 0: code that no file holds. */
NOINLINE static int jit_load(double seconds)
{
#ifdef __x86_64__
	static const uint8_t code[] = {0x55,		 /* push %rbp */
				       0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
				       0x48, 0xff, 0xcf, /* 1: dec %rdi */
				       0x75, 0xfb,	 /* jnz 1b */
				       0x5d, 0xc3};	 /* pop %rbp; ret */
	int64_t end = cpu_ns() + (int64_t)(seconds * 1e9);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	void (*run)(uint64_t n);

	if (p == MAP_FAILED)
		return 1;
	memcpy(p, code, sizeof(code));
	if (mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	memcpy(&run, &p, sizeof(run));
	while (cpu_ns() < end)
		run(1000000);
	return 0;
#else
	(void)seconds;
	return 1;
#endif
}

static int64_t signal_end;

NOINLINE static void on_signal(int number)
{
	(void)number;
	while (cpu_ns() < signal_end)
		SPIN(60000, 11);
}

NOINLINE static int signal_load(double seconds)
{
	static char stack[1 << 16];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	signal_end = cpu_ns() + (int64_t)(seconds * 1e9);
	if (sigaltstack(&alternate, NULL) || sigaction(SIGUSR1, &sa, NULL))
		return 1;
	raise(SIGUSR1);
	sink++;
	return 0;
}

NOINLINE static void clock_load(double seconds)
{
	int64_t end = cpu_ns() + (int64_t)(seconds * 1e9);
	struct timespec t;

	while (cpu_ns() < end) {
		for (int i = 0; i < 10000; i++) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			sink += t.tv_nsec;
		}
	}
}

/* Every other page is left out, or they would become one. */
NOINLINE static int mapped_load(double seconds, int n)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY), i;
	char *room = mmap(NULL, (size_t)(2 * n * page), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || room == MAP_FAILED)
		return 1;
	for (i = 0; i < n; i++) {
		if (mmap(room + 2 * i * page, (size_t)page, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			return 1;
	}
	short_burn((int64_t)(seconds * 1e9));
	return 0;
}

NOINLINE static int library_load(double seconds, const char *file)
{
	static unsigned char bytes[1 << 16];
	unsigned long (*sum)(unsigned long, const unsigned char *, unsigned int);
	int64_t end;
	void *library, *symbol;

	short_burn((int64_t)(seconds * 5e8));
	library = dlopen(file, RTLD_NOW);
	symbol = library ? dlsym(library, "adler32") : NULL;
	if (!symbol)
		return 1;
	memcpy(&sum, &symbol, sizeof(sum));
	for (end = cpu_ns() + (int64_t)(seconds * 5e8); cpu_ns() < end;)
		sink += sum(1, bytes, sizeof(bytes));
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	double amount = argc > 2 ? atof(argv[2]) : 0;

	if (!strcmp(mode, "split"))
		split(amount);
	else if (!strcmp(mode, "three"))
		three(amount);
	else if (!strcmp(mode, "recurse") && argc > 3)
		descend(atoi(argv[3]), cpu_ns() + (int64_t)(amount * 1e9));
	else if (!strcmp(mode, "kernel"))
		kernel_load(amount);
	else if (!strcmp(mode, "burn"))
		short_burn((int64_t)(amount * 1e6));
	else if (!strcmp(mode, "spawn") && argc > 3)
		return spawn(argv[0], (int)amount, argv[3]);
	else if (!strcmp(mode, "chain") && argc > 3)
		return chain(argv[0], (int)amount, argv[3]);
	else if (!strcmp(mode, "become") && argc > 3)
		return become(argv[2], argv[3]);
	else if (!strcmp(mode, "relay"))
		return relay(argv[2], argv + 3);
	else if (!strcmp(mode, "reuse"))
		return reuse(argv[2], argv + 3);
	else if (!strcmp(mode, "mapped") && argc > 3)
		return mapped_load(amount, atoi(argv[3]));
	else if (!strcmp(mode, "library") && argc > 3)
		return library_load(amount, argv[3]);
	else if (!strcmp(mode, "orphan"))
		return orphan_load(amount);
	else if (!strcmp(mode, "jit"))
		return jit_load(amount);
	else if (!strcmp(mode, "signal"))
		return signal_load(amount);
	else if (!strcmp(mode, "clock"))
		clock_load(amount);
	else
		return 2;
	return 0;
}
