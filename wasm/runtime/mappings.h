// What the runtime's files know of each other.
#pragma once

// Frees the memory of files that are no longer mapped. Whether there was some.
bool FreeUnusedMappings();
