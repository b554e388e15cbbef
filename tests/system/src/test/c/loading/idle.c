/* A program that never calls CUDA: what did loading the library do to it? */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int entries(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    if (!d)
        return -1;
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

int main(void)
{
    char line[512];
    int driver = 0, library = 0, segments = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        driver += strstr(line, "libcuda-scripted") != NULL;
        library += strstr(line, "libcuda.so.1") != NULL;
        segments += strstr(line, ".segment") != NULL;
    }
    if (maps)
        fclose(maps);
    printf("tasks %d files %d library %d driver %d segments %d\n", entries("/proc/self/task"),
           entries("/proc/self/fd") - 1, library > 0, driver, segments);
    return 0;
}
