/* From a file of `ur-admittance params record`: PARAMS, then the digest of the kernels it was written for. NULL: read;
   otherwise what is wrong, and params are not to be used. */
static inline const char *ur_read_params(ur_params *params, const char *path) {
    char digest[sizeof UR_DIGEST] = "";
    if (strcmp(ur_digest, UR_DIGEST) != 0) return "the library is of another version than this program: compile it anew";
    FILE *file = fopen(path, "rb");
    if (!file) return "the parameters cannot be opened";
    size_t size = fread(params, 1, sizeof *params, file) + fread(digest, 1, sizeof digest - 1, file);
    int longer = fgetc(file) != EOF;
    fclose(file);
    int fits = size == sizeof *params + sizeof digest - 1 && !longer && strcmp(digest, UR_DIGEST) == 0;
    return fits ? NULL : "the parameters are of another version: write them anew";
}
