import js from "@eslint/js";
import globals from "globals";

// The web page's scripts are modules; the report's is one classic script that is written into the page.
export default [
  { ignores: ["**/*.min.js", ".venv*/", "docs/_build/", "docs/gallery/", "build/", "dist/"] },
  js.configs.recommended,
  {
    files: ["src/lifeyears/**/*.js"],
    languageOptions: { globals: { ...globals.browser } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-implicit-globals": "error",
      "no-shadow": "error",
      "no-unused-vars": "error",
      "no-var": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      "array-callback-return": "error",
      "consistent-return": "error",
      "no-multi-assign": "error",
    },
  },
  {
    files: ["src/lifeyears/report/**/*.js"],
    languageOptions: { sourceType: "script", globals: { Plotly: "readonly" } },
    rules: { strict: ["error", "global"] },
  },
];
