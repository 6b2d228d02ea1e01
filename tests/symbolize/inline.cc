// SPDX-License-Identifier: Apache-2.0
// Code in the shapes that symbolizers get wrong: inlined calls of several levels, lambdas,
// local classes, cold parts, constructors with two names, a file included in a function.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

inline int square(int x)
{
	return x * x;
}

inline int quad(int x)
{
	return square(x) + square(x + 1);
}

template <class T> struct Acc {
	T sum{};
	std::vector<T> seen;

	explicit Acc(T start) : sum(start)
	{
	}
	~Acc()
	{
		std::printf("%zu\n", seen.size());
	}
	void add(T v)
	{
		sum += quad(v);
		seen.push_back(v);
	}
	bool operator<(const Acc &o) const
	{
		return sum < o.sum;
	}
};

__attribute__((noinline)) int local_class(int n)
{
	struct Walker {
		int total = 0;
		void step(int i)
		{
			total += quad(i);
		}
		__attribute__((noinline)) void far(int i)
		{
			total -= square(i) % 7;
		}
	} w;

	for (int i = 0; i < n; i++) {
		w.step(i);
		w.far(i);
	}
	return w.total;
}

__attribute__((noinline)) int checked(int n)
{
	if (n > 1000)
		throw std::runtime_error("too many: " + std::to_string(n));
	return quad(n);
}

__attribute__((noinline)) int lambdas(std::vector<int> &v)
{
	int calls = 0;
	auto by = [&calls](int a, int b) {
		calls++;
		return quad(a) < quad(b);
	};
	std::function<int(int)> f = [&](int x) { return square(x) + calls; };

	std::sort(v.begin(), v.end(), by);
	return f(v.empty() ? 0 : v[0]);
}

} // namespace

class Base
{
      public:
	Base();
	virtual ~Base();
	virtual int run(int n) = 0;
};

Base::Base()
{
	std::puts("base");
}

Base::~Base()
{
	std::puts("~base");
}

class Derived : public Base
{
	std::map<std::string, int> names;

      public:
	int run(int n) override
	{
		for (int i = 0; i < n; i++)
			names[std::to_string(i % 10)] += quad(i);
		return names["3"];
	}
};

int main(int argc, char **argv)
{
	int n = argc > 1 ? std::atoi(argv[1]) : 20;
	std::vector<int> v;
	Derived d;

	try {
		Acc<int> a(1);
		Acc<long> b(2);

		for (int i = 0; i < n; i++) {
			a.add(i);
			b.add(i);
			v.push_back((i * 7919) % 101);
		}
		std::printf("%d %ld %d\n", a.sum, b.sum, a < Acc<int>(5));
		std::printf("%d %d %d %d\n", local_class(n), checked(n), lambdas(v), d.run(n));
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	return 0;
}
