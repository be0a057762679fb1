// SPDX-License-Identifier: MIT
/*
 * model_page.cc - every interleaving of a page's writer and a reader, with stores and loads
 * reordered.
 *
 * A model of the protocol, not the code itself: one writer that may die at any instruction and is
 * followed by another, and a reader, on a machine that is weaker than any that vclock runs on.
 * Stores of the writer become visible in any order, except that stores to one place keep theirs and
 * none passes a release fence. Loads of the reader happen in any order, also before the one that
 * their address hangs on (it has guessed the place), except that none passes an acquire fence. All
 * states are visited; readers do not see each other, so one stands for any number.
 *
 * Each line is two words that must be equal (a torn one is not) and must be the line that the
 * reader's generation names. A mutant without each single fence, and one that reads the entry of
 * the history that is being written, must be caught.
 */
#include <array>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

extern "C" {
#include "tap.h"
}

namespace
{

enum { HISTORY = 2, GENERATIONS_QUICK = 4, GENERATIONS_LONG = 6 };

/* The memory: a generation, two slots of two words, a history of two words each. The value of a
 * slot's or an entry's word is the number of the update that wrote it. */
enum place {
	GENERATION,
	SLOT,
	SLOTS_END = SLOT + 4,
	ENTRY = SLOTS_END,
	PLACES = ENTRY + 2 * HISTORY
};

struct protocol {
	bool has_fence_before_fill; /* between the generation store and the next slot's stores */
	bool has_fence_before_generation;
	bool has_fence_after_generation; /* between the reader's first look and its loads */
	bool has_fence_before_second;	 /* between its loads and its second look */
	bool reads_oldest_entry;
};

const uint8_t FENCE = 0xff;

int generations; /* updates that a writer makes */

struct store {
	uint8_t place, value; /* place FENCE: a release fence */
};

/* What a reader loads: the generation, the two words at its place, the generation. -1: not yet. */
struct state {
	std::array<uint8_t, PLACES> memory;
	std::vector<store>
		buffer;	      /* stores that are done, and not visible yet; fences among them */
	uint8_t update, step; /* the writer: which update, which of its steps */
	std::array<int8_t, 4> loaded;
};

/* Update number n: history entry, slot, generation, as page_writer.c does it. */
std::vector<store> program(const protocol &protocol, uint8_t n)
{
	const uint8_t slot = static_cast<uint8_t>(SLOT + 2 * (n & 1));
	std::vector<store> stores;

	if (protocol.has_fence_before_fill)
		stores.push_back({FENCE, 0});
	if (n >= 2) { /* the line of update n - 2 leaves the slots */
		const uint8_t entry = static_cast<uint8_t>(ENTRY + 2 * ((n - 2) % HISTORY));

		stores.push_back({entry, static_cast<uint8_t>(n - 1)});
		stores.push_back({static_cast<uint8_t>(entry + 1), static_cast<uint8_t>(n - 1)});
	}
	stores.push_back({slot, n});
	stores.push_back({static_cast<uint8_t>(slot + 1), n});
	if (protocol.has_fence_before_generation)
		stores.push_back({FENCE, 0});
	stores.push_back({GENERATION, n});
	return stores;
}

class model
{
      public:
	/* place: of the pair of words that the reader looks at */
	model(const protocol &protocol, uint8_t place) : protocol_(protocol), place_(place)
	{
	}

	/* The number of wrong reads over all states. */
	unsigned run()
	{
		state start = {};

		start.update = 1;
		start.loaded.fill(-1);
		visit(start);
		while (!open_.empty()) {
			const state next = open_.back();

			open_.pop_back();
			writer_steps(next);
			writer_dies(next);
			buffer_drains(next);
			reader_steps(next);
		}
		return wrong_;
	}

	size_t states() const
	{
		return seen_.size();
	}

	unsigned good() const
	{
		return good_;
	}

      private:
	void visit(const state &next)
	{
		std::string key(next.memory.begin(), next.memory.end());

		for (const store &store : next.buffer) {
			key.push_back(static_cast<char>(store.place));
			key.push_back(static_cast<char>(store.value));
		}
		key.push_back(static_cast<char>(next.update));
		key.push_back(static_cast<char>(next.step));
		key.append(next.loaded.begin(), next.loaded.end());
		if (seen_.insert(key).second)
			open_.push_back(next);
	}

	void writer_steps(const state &now)
	{
		state next = now;

		if (now.update > generations)
			return;
		const std::vector<store> stores = program(protocol_, now.update);

		next.buffer.push_back(stores[now.step]);
		if (++next.step == stores.size()) {
			next.step = 0;
			next.update++;
		}
		visit(next);
	}

	/* A dead writer's stores are all visible before another starts: the kernel sees to that.
	 * The new one goes on from the generation that it finds. */
	void writer_dies(const state &now)
	{
		state next = now;

		if (now.step == 0 && now.buffer.empty())
			return;
		for (const store &store : now.buffer)
			if (store.place != FENCE)
				next.memory[store.place] = store.value;
		next.buffer.clear();
		next.step = 0;
		next.update = static_cast<uint8_t>(next.memory[GENERATION] + 1);
		visit(next);
	}

	/* Any store that no fence, and no earlier store to its place, holds back. */
	void buffer_drains(const state &now)
	{
		for (size_t i = 0; i < now.buffer.size(); i++) {
			const uint8_t place = now.buffer[i].place;
			bool is_held = false;

			if (place == FENCE) {
				if (i == 0) {
					state next = now;

					next.buffer.erase(next.buffer.begin());
					visit(next);
				}
				break;
			}
			for (size_t j = 0; j < i; j++)
				is_held |= now.buffer[j].place == place;
			if (is_held)
				continue;

			state next = now;

			next.memory[place] = now.buffer[i].value;
			next.buffer.erase(next.buffer.begin() + static_cast<long>(i));
			visit(next);
		}
	}

	void reader_steps(const state &now)
	{
		const bool has_pair = now.loaded[1] >= 0 && now.loaded[2] >= 0;

		if (now.loaded[0] >= 0 && has_pair && now.loaded[3] >= 0) {
			judge(now);
			return;
		}
		if (now.loaded[0] < 0)
			load(now, 0, GENERATION);
		if (now.loaded[0] >= 0 || !protocol_.has_fence_after_generation) {
			for (uint8_t i = 1; i <= 2; i++)
				if (now.loaded[i] < 0)
					load(now, i, static_cast<uint8_t>(place_ + i - 1));
		}
		/* Two loads of one word keep their order on every machine. */
		if (now.loaded[0] >= 0 && now.loaded[3] < 0 &&
		    (has_pair || !protocol_.has_fence_before_second))
			load(now, 3, GENERATION);
	}

	void load(const state &now, uint8_t i, uint8_t place)
	{
		state next = now;

		next.loaded[i] = static_cast<int8_t>(now.memory[place]);
		visit(next);
	}

	/* The number of the update whose words a reader with this generation expects; 0: it does
	 * not look at this place. */
	int expected(int generation) const
	{
		/* lines that have gone into history: those of the updates up to g - 2 */
		const int count = generation >= 2 ? generation - 1 : 0;
		const int oldest = protocol_.reads_oldest_entry ? HISTORY : HISTORY - 1;

		if (place_ < SLOTS_END)
			return place_ == SLOT + 2 * (generation & 1) ? generation : 0;
		for (int n = 1; n <= oldest && n <= count; n++)
			if (place_ == ENTRY + 2 * ((count - n) % HISTORY))
				return count - n + 1;
		return 0;
	}

	void judge(const state &now)
	{
		const int value = expected(now.loaded[0]);

		if (now.loaded[3] != now.loaded[0] || now.loaded[0] == 0 || value == 0)
			return; /* tries again, looks elsewhere, or asks the kernel */
		if (now.loaded[1] == value && now.loaded[2] == value)
			good_++;
		else
			wrong_++;
	}

	protocol protocol_;
	uint8_t place_;
	std::unordered_set<std::string> seen_;
	std::vector<state> open_;
	unsigned wrong_ = 0, good_ = 0;
};

void check(const char *name, const protocol &protocol, bool is_sound)
{
	unsigned good = 0, wrong = 0;
	size_t states = 0;

	for (uint8_t place = SLOT; place < PLACES; place = static_cast<uint8_t>(place + 2)) {
		model model(protocol, place);

		wrong += model.run();
		good += model.good();
		states += model.states();
	}
	tap_diag("%s: %zu states, %u right reads, %u wrong ones", name, states, good, wrong);
	if (is_sound)
		tap_ok(wrong == 0 && good > 0, "%s: no wrong read", name);
	else
		tap_ok(wrong > 0, "%s: caught", name);
}

} // namespace

int main()
{
	generations = tap_is_long() ? GENERATIONS_LONG : GENERATIONS_QUICK;
	check("the protocol", {true, true, true, true, false}, true);
	check("without the fence before a slot is filled", {false, true, true, true, false}, false);
	check("without the fence before the generation", {true, false, true, true, false}, false);
	check("without the fence after the first look", {true, true, false, true, false}, false);
	check("without the fence before the second look", {true, true, true, false, false}, false);
	check("reading the entry that is being written", {true, true, true, true, true}, false);
	return tap_done();
}
