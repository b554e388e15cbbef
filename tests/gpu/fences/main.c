/*
 * What fences cost: kernels as they are and fenced with each mode, in one process, in turn, on the same data; their results are
 * compared bit by bit. Prints a line of JSON for each kernel, with --text a table.
 *
 *   fences FOLDER [--text] [--only KERNEL,...] [--modes mask,modulo,check,jit,linked,relay] [--rounds N]
 *
 * FOLDER holds the file `cases`, compare.ptx, and FILE.MODE.cubin (or .ptx) and FILE.MODE.variables as
 * tests/gpu/fences/build makes.
 */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "images.h"
#include "measure.h"

enum { CASE_SECONDS = 20, DEFAULT_ROUNDS = 20 };

static char running[NAME_BYTES];
static const char *modes[MOST_FORMS] = {"native", "mask", "modulo", "check", "jit", "linked", "relay"};
static int form_count = MOST_FORMS, text_wanted;
static double logarithms[MOST_FORMS], worst[MOST_FORMS];
static int counted[MOST_FORMS];

/* A kernel that hangs cannot be ended but with its process. */
static void hangs(int signal)
{
    (void)signal;
    if (write(2, "hangs: ", 7) < 0 || write(2, running, strlen(running)) < 0 || write(2, "\n", 1) < 0)
        _exit(4);
    _exit(3);
}

static int chosen(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == 0 || at[length] == ','))
            return 1;
    return 0;
}

static void parse_modes(char *list)
{
    form_count = 1;
    for (char *mode = strtok(list, ","); mode && form_count < MOST_FORMS; mode = strtok(NULL, ","))
        modes[form_count++] = mode;
}

static void print_json(const struct fenced_case *what, const struct form *forms)
{
    printf("{\"kernel\":\"%s\",\"file\":\"%s\",\"forms\":[", what->kernel, what->file);
    for (int f = 0; f < form_count; f++)
        printf("%s{\"mode\":\"%s\",\"refused\":%d,\"us\":%.3f,\"ratio\":%.4f,\"registers\":%d,\"localBytes\":%d,"
               "\"differences\":%llu,\"violations\":%u}",
               f ? "," : "", forms[f].mode, forms[f].refused, forms[f].microseconds,
               forms[f].refused ? 0 : forms[f].microseconds / forms[0].microseconds, forms[f].registers,
               forms[f].localBytes, forms[f].differences, forms[f].violations);
    printf("]}\n");
}

static void print_text(const struct fenced_case *what, const struct form *forms)
{
    printf("%-18s %9.1f us r%-3d l%-4d", what->kernel, forms[0].microseconds, forms[0].registers, forms[0].localBytes);
    for (int f = 1; f < form_count; f++)
        if (forms[f].refused)
            printf(" | %s refused", forms[f].mode);
        else
            printf(" | %s %+6.1f%% r%-3d l%-4d%s%s", forms[f].mode,
                   100 * (forms[f].microseconds / forms[0].microseconds - 1), forms[f].registers, forms[f].localBytes,
                   forms[f].differences ? " DIFFERS" : "", forms[f].violations ? " VIOLATIONS" : "");
    printf("\n");
}

/* Measures one case in all forms; whether there was an original to compare with. */
static int one(struct device *device, const char *folder, const struct fenced_case *what, int rounds)
{
    struct form forms[MOST_FORMS] = {0}, present[MOST_FORMS];
    int there[MOST_FORMS], count = 0;
    snprintf(running, sizeof running, "%s", what->kernel);
    alarm(CASE_SECONDS);
    device->window.used = 0;
    for (int f = 0; f < form_count; f++) {
        forms[f].mode = modes[f];
        forms[f].refused = !form_load(device, &forms[f], folder, what->file, what->kernel);
        if (!forms[f].refused) {
            there[count] = f;
            present[count++] = forms[f];
        }
    }
    if (forms[0].refused) {
        fprintf(stderr, "%s: no original\n", what->file);
        return 0;
    }
    measure(device, what, present, count, rounds);
    for (int i = 0; i < count; i++) {
        int f = there[i];
        forms[f] = present[i];
        double ratio = forms[f].microseconds / forms[0].microseconds;
        logarithms[f] += log(ratio);
        worst[f] = ratio > worst[f] ? ratio : worst[f];
        counted[f]++;
        image_unload(forms[f].module, forms[f].library);
    }
    text_wanted ? print_text(what, forms) : print_json(what, forms);
    fflush(stdout);
    return 1;
}

static void summary(void)
{
    for (int f = 1; f < form_count && text_wanted; f++)
        printf("%s: geometric mean %.4f, worst %.4f, %d kernels\n", modes[f],
               counted[f] ? exp(logarithms[f] / counted[f]) : 0, worst[f], counted[f]);
}

int main(int count, char **arguments)
{
    const char *folder = count > 1 ? arguments[1] : ".", *only = NULL;
    int rounds = DEFAULT_ROUNDS, found = 0;
    for (int i = 2; i < count; i++) {
        if (strcmp(arguments[i], "--text") == 0)
            text_wanted = 1;
        else if (strcmp(arguments[i], "--only") == 0 && i + 1 < count)
            only = arguments[++i];
        else if (strcmp(arguments[i], "--modes") == 0 && i + 1 < count)
            parse_modes(arguments[++i]);
        else if (strcmp(arguments[i], "--rounds") == 0 && i + 1 < count)
            rounds = atoi(arguments[++i]);
    }
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    char path[4096], line[1024];
    snprintf(path, sizeof path, "%s/cases", folder);
    FILE *cases = fopen(path, "r");
    if (!cases) {
        fprintf(stderr, "there is no %s\n", path);
        return 2;
    }
    signal(SIGALRM, hangs);
    struct device device = {0};
    device_open(&device, folder);
    struct fenced_case what;
    while (fgets(line, sizeof line, cases))
        if (case_read(line, &what) && (!only || chosen(only, what.kernel)))
            found += one(&device, folder, &what, rounds);
    fclose(cases);
    summary();
    return found == 0;
}
