/* SPDX-License-Identifier: Apache-2.0 */
/* What paths of control groups tell, in the forms that runtimes give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sym/cgroup.h"
#include "lib/sym/podlog.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID32 "0123456789abcdef0123456789abcdef"
#define UID "12345678-1234-1234-1234-123456789abc"
#define UID_ "12345678_1234_1234_1234_123456789abc"

static const struct {
	const char *path, *container, *pod, *unit;
} paths[] = {
	{"/", "", "", ""},
	{"", "", "", ""},
	{"/docker/" ID, ID, "", ""},
	{"/system.slice/docker-" ID ".scope", ID, "", "docker-" ID ".scope"},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	 ".slice/cri-containerd-" ID ".scope",
	 ID, UID, ""},
	{"/kubepods/besteffort/pod" UID "/" ID, ID, UID, ""},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container", ID,
	 UID, ""},
	{"/kubepods.slice/kubepods-pod" ID32 ".slice/crio-" ID ".scope", ID, ID32, ""},
	{"/kubepods/pod" ID32 "/" ID, ID, ID32, ""},
	{"/system.slice/containerd.service/kubepods-burstable-pod" UID_
	 ".slice:cri-containerd:" ID,
	 ID, "", "containerd.service"},
	{"/machine.slice/libpod-" ID ".scope/container", ID, "", ""},
	{"/machine.slice/libpod-conmon-" ID ".scope", "", "", ""},
	{"/ecs/" ID32 "/" ID32 "-4294967295", ID32 "-4294967295", "", ""},
	{"/lxc/" ID32, ID32, "", ""},
	{"/lxc/" ID32 "-x", "", "", ""},
	{"/system.slice/ssh.service", "", "", "ssh.service"},
	{"/system.slice/system-getty.slice/getty@tty1.service", "", "",
	 "getty@tty1.service"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope", "", "",
	 "app-x.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/init.scope/sub/", "", "",
	 "init.scope"},
	{"/user.slice/user-1000.slice/session-3.scope", "", "", "session-3.scope"},
	{"/init.scope", "", "", "init.scope"},
	{"/init.scopes", "", "", ""},
	{"/x/ssh.service", "", "", ""},
	{"/system.slice/.service", "", "", ""},
	{"/podwithout", "", "", ""},
};

static void test_paths(void **state)
{
	char out[CGROUP_NAME_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		print_message("# %s\n", paths[i].path);
		assert_string_equal(cgroup_container_id(paths[i].path, out) ? out : "",
				    paths[i].container);
		assert_string_equal(cgroup_pod_uid(paths[i].path, out) ? out : "",
				    paths[i].pod);
		assert_string_equal(cgroup_systemd_unit(paths[i].path, out) ? out : "",
				    paths[i].unit);
	}
}

static void test_podlog(void **state)
{
	char longest[POD_NAME_MAX + 64];
	struct pod_names p;

	(void)state;
	assert_true(podlog_of_container("web-5d4_shop_front-end-" ID ".log", ID, &p));
	assert_string_equal(p.pod, "web-5d4");
	assert_string_equal(p.namespace, "shop");
	assert_string_equal(p.container, "front-end");
	assert_false(podlog_of_container("web_shop_front-" ID ".log", ID32, &p));
	assert_false(podlog_of_container("web_shop-" ID ".log", ID, &p));
	assert_false(podlog_of_container("a_b_c_d-" ID ".log", ID, &p));
	assert_false(podlog_of_container("a__c-" ID ".log", ID, &p));
	assert_false(podlog_of_container("__-" ID ".log", ID, &p));
	assert_false(podlog_of_container("a_b_c-" ID ".gz", ID, &p));
	assert_false(podlog_of_container("-" ID ".log", ID, &p));
	assert_false(podlog_of_container("a_b_c-.log", "", &p));
	memset(longest, 'x', POD_NAME_MAX);
	strcpy(longest + POD_NAME_MAX, "_b_c-7.log");
	assert_false(podlog_of_container(longest, "7", &p));
	assert_true(podlog_of_container(longest + 1, "7", &p));

	assert_true(podlog_of_pod("shop_web-5d4_" UID, UID, &p));
	assert_string_equal(p.pod, "web-5d4");
	assert_string_equal(p.namespace, "shop");
	assert_string_equal(p.container, "");
	assert_false(podlog_of_pod(UID, UID, &p)); /* as kubelets before 1.14 had it */
	assert_false(podlog_of_pod("_" UID, UID, &p));
	assert_false(podlog_of_pod("web_" UID, UID, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_podlog),
					   cmocka_unit_test(test_paths)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
