// What this process holds: children, descriptors, memory, scratch folders. Taken before and after
// judging.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace davinci::outcomes {

// Orphans of orphans come to this process from now on, so that none can hide from
// LiveDescendants().
void AdoptOrphans();

// "pid name" of every living process below this one. Zombies are reaped and do not count.
// Reaping takes any child: call it only while no other thread waits for one.
std::vector<std::string> LiveDescendants();
// The same, without reaping, at any time.
int NumLiveDescendants();

// Ids of living processes below this one whose working directory has that name.
std::vector<int> DescendantsIn(const std::string& folder_name);

int NumOpenFiles();
double ResidentMiB();
std::vector<std::string> Entries(const std::filesystem::path& folder);

}  // namespace davinci::outcomes
