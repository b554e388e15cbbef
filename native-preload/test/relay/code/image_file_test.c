/* The file behind a mapping is found, unless the program's memory differs from it. */
#include "relay/code/image_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define BYTES (64u * PAGE)

static unsigned char contents[BYTES];
static char path[] = "/tmp/tessera-image-file-XXXXXX";

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "image_file_test.c:%d: not so: %s\n", __LINE__, #condition);                               \
            unlink(path);                                                                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void write_file(int file)
{
    REQUIRE(write(file, contents, BYTES) == BYTES);
}

static bool finds(const unsigned char *address, size_t bytes, uint64_t expected_offset)
{
    int file = -1;
    uint64_t offset = 0;
    if (!image_file_find(address, bytes, &file, &offset))
        return false;
    unsigned char first;
    REQUIRE(offset == expected_offset && pread(file, &first, 1, (off_t)offset) == 1 && first == address[0]);
    REQUIRE(close(file) == 0);
    return true;
}

int main(void)
{
    for (unsigned i = 0; i < BYTES; i++)
        contents[i] = (unsigned char)(i * 2654435761u >> 24);
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    write_file(file);
    unsigned char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    REQUIRE(memory != MAP_FAILED);

    REQUIRE(finds(memory, BYTES, 0));
    REQUIRE(finds(memory + 100, 5 * PAGE, 100));                /* neither end at a page */
    REQUIRE(mprotect(memory + 8 * PAGE, PAGE, PROT_READ) == 0); /* three mappings now */
    REQUIRE(finds(memory + PAGE, 20 * PAGE, PAGE));
    REQUIRE(!finds(contents, BYTES, 0));         /* no file, or the program's own, whose data was written */
    REQUIRE(!finds(memory + PAGE, BYTES, PAGE)); /* beyond its end */

    memory[30 * PAGE] ^= 1;
    REQUIRE(!finds(memory, BYTES, 0));
    REQUIRE(finds(memory, 30 * PAGE, 0)); /* what lies before is still the file's */
    memory[30 * PAGE] ^= 1;
    REQUIRE(finds(memory, BYTES, 0)); /* written to, but equal */

    REQUIRE(unlink(path) == 0);
    REQUIRE(!finds(memory, PAGE, 0)); /* no name leads to the file */
    int other = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    REQUIRE(other >= 0);
    REQUIRE(!finds(memory, PAGE, 0)); /* another file with that name */
    unlink(path);
    puts("image_file: ok");
    return 0;
}
