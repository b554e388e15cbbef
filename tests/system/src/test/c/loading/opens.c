/* Opens and closes libraries: their constructors and destructors run while glibc holds its lock of loaded libraries. */
#include <dlfcn.h>

#include "check.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            printf("%s: %s\n", argv[i], dlerror());
            return 1;
        }
        OKAY(dlclose(library));
    }
    printf("done\n");
    return 0;
}
